/** A client on one connection that stays open: messages out, messages in, SessionAttach to join and to come back. */
import type { ClientMessage, ServerMessage, SessionAck, SessionOpened } from '@tool-runtime/protocol';
import type { HostStage } from './host-stage.ts';
import { Inbox } from './inbox.ts';
import type { Client, ConnectOptions } from './transport.ts';

export interface StreamWire {
  write(bytes: string | Uint8Array): void;
  drop(): void;
  leave(): void;
}

/** Opens the bytes; every message that comes goes to the inbox. */
export type OpenWire = (inbox: Inbox, token: string | undefined) => Promise<StreamWire> | StreamWire;

export async function connectStream(
  hostStage: HostStage,
  { withSessionToken = false, heartbeatTimeoutMs, after }: ConnectOptions,
  open: OpenWire,
): Promise<Client> {
  const { traffic } = hostStage;
  const inbox = new Inbox(traffic);
  const needsSession = withSessionToken || heartbeatTimeoutMs !== undefined;
  const opened: SessionOpened | undefined = needsSession
    ? await hostStage.openSession(heartbeatTimeoutMs === undefined ? {} : { heartbeat_timeout_ms: heartbeatTimeoutMs })
    : undefined;
  const wire = await open(inbox, withSessionToken ? opened?.token : undefined);
  const greeting = await inbox.until(isAck);
  const sessionId = after?.sessionId ?? opened?.session_id ?? greeting.session_id;
  const send = (message: ClientMessage): void => {
    traffic.said('to host', message);
    wire.write(JSON.stringify(message));
  };
  return {
    sessionId,
    inbox,
    send,
    sendRaw: (bytes) => wire.write(bytes),
    async attach(attach = {}) {
      const before = inbox.acks;
      send({ type: 'SessionAttach', session_id: sessionId, ...attach });
      await inbox.acknowledged(before + 1);
    },
    drop: wire.drop,
    leave: wire.leave,
    endSession: (how) => hostStage.endSession(sessionId, how),
  };
}

function isAck(message: ServerMessage): message is SessionAck {
  return message.type === 'SessionAck';
}
