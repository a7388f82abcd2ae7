/** The typed client's connections to a host: they come back by themselves, so a cut wire is only a delay. */
import { connect, type Socket } from 'node:net';
import type { ClientMessage, ServerMessage, SessionAck, SessionOpened } from '@tool-runtime/protocol';
import {
  type Connect,
  type Connection,
  httpConnection,
  lineConnection,
  reconnecting,
  webSocketConnection,
} from '@tool-runtime/protocol/client';
import { TOKENS } from '../../open-host.ts';
import { openCutProxy } from '../../wire/cut-proxy.ts';
import { addressOf } from '../../wire/raw-socket.ts';
import { type HostStage, openHostStage } from '../host-stage.ts';
import { Inbox } from '../inbox.ts';
import type { Client, ConnectOptions, Traits, Transport } from '../transport.ts';
import { HTTP_TRAITS } from './http-traits.ts';
import { WEB_SOCKET_TRAITS } from './web-socket-traits.ts';

/** Such a client sends what its types allow. */
const OWN_TRAITS = { return: 'by itself', sends: 'messages' } as const;

interface TypedWire {
  readonly connect: Connect;
  drop(): void;
  close(): Promise<void>;
}

type OpenTyped = (hostStage: HostStage, token: string, session: SessionOpened | undefined) => Promise<TypedWire>;

export function typedWebSocket(): Promise<Transport> {
  return openTyped({ ...WEB_SOCKET_TRAITS, ...OWN_TRAITS }, async ({ host }, token) => {
    const proxy = await openCutProxy((addressOf(host.url) as { port: number }).port);
    return {
      connect: () => webSocketConnection({ url: `http://127.0.0.1:${proxy.port}`, token }),
      drop: proxy.cut,
      close: proxy.close,
    };
  });
}

export function typedHttp(): Promise<Transport> {
  // It keeps comments to itself.
  const traits: Traits = { ...HTTP_TRAITS, ...OWN_TRAITS, beats: 'none' };
  return openTyped(traits, async (hostStage, token, given) => {
    const session = given ?? (await hostStage.openSession());
    const proxy = await openCutProxy((addressOf(hostStage.host.url) as { port: number }).port);
    return {
      connect: () => httpConnection({ url: `http://127.0.0.1:${proxy.port}`, token, session }),
      drop: proxy.cut,
      close: proxy.close,
    };
  });
}

export function typedLines(): Promise<Transport> {
  const traits: Traits = { ...WEB_SOCKET_TRAITS, ...OWN_TRAITS, farTooLarge: 'refusal', tokens: 'none' };
  return openTyped(traits, async ({ host }) => {
    const sockets = new Set<Socket>();
    const drop = (): void => {
      for (const socket of sockets) socket.destroy();
    };
    return {
      connect() {
        const socket = connect(host.socket);
        // So that the host need not wait whether it will be HTTP.
        socket.write('\n');
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
        return lineConnection({ readable: socket, writable: socket });
      },
      drop,
      async close() {
        drop();
      },
    };
  });
}

async function openTyped(traits: Traits, open: OpenTyped): Promise<Transport> {
  const hostStage = await openHostStage();
  const wires: TypedWire[] = [];
  const connections: Connection[] = [];
  return {
    traits,
    traffic: hostStage.traffic,
    stage: hostStage.stage,
    lastEventId: hostStage.lastEventId,
    async close() {
      await Promise.all(connections.map((connection) => connection.close()));
      await Promise.all(wires.map((wire) => wire.close()));
      await hostStage.close();
    },
    async connect(options = {}) {
      if (options.after !== undefined) return options.after;
      const session = await sessionFor(hostStage, options);
      const token = options.withSessionToken === true ? session?.token : undefined;
      const wire = await open(hostStage, token ?? TOKENS.operator, session);
      wires.push(wire);
      const connection = reconnecting(wire.connect, {
        minDelayMs: 10,
        maxDelayMs: 100,
        ...(session === undefined ? {} : { sessionId: session.session_id }),
      });
      connections.push(connection);
      return connectTyped(hostStage, connection, wire);
    },
  };
}

function sessionFor(hostStage: HostStage, { withSessionToken, heartbeatTimeoutMs }: ConnectOptions) {
  if (withSessionToken !== true && heartbeatTimeoutMs === undefined) return undefined;
  return hostStage.openSession(heartbeatTimeoutMs === undefined ? {} : { heartbeat_timeout_ms: heartbeatTimeoutMs });
}

async function connectTyped(hostStage: HostStage, connection: Connection, wire: TypedWire): Promise<Client> {
  const { traffic } = hostStage;
  const inbox = new Inbox(traffic);
  void readAll(connection, inbox);
  const { session_id: sessionId } = await inbox.until(isAck);
  const deliver = (message: ClientMessage): void => {
    void Promise.resolve(connection.send(message)).catch((thrown: unknown) => inbox.close(String(thrown)));
  };
  const send: Client['send'] = (message) => {
    traffic.said('to host', message);
    deliver(message);
  };
  return {
    sessionId,
    inbox,
    send,
    /** It makes the text itself, from whatever it is given. */
    sendRaw: (bytes) => deliver(JSON.parse(String(bytes)) as ClientMessage),
    async attach({ events = 'progress', after } = {}) {
      const before = inbox.acks;
      send({ type: 'SessionAttach', session_id: sessionId, events, ...(after === undefined ? {} : { after }) });
      await inbox.acknowledged(before + 1);
    },
    drop: wire.drop,
    leave: () => connection.close(),
    endSession: (how) => hostStage.endSession(sessionId, how),
  };
}

async function readAll(connection: Connection, inbox: Inbox): Promise<void> {
  try {
    for await (const message of connection.messages()) inbox.push(message);
    inbox.close();
  } catch (thrown) {
    inbox.close(String(thrown));
  }
}

function isAck(message: ServerMessage): message is SessionAck {
  return message.type === 'SessionAck';
}
