/**
 * From an address and a token to a client that is ready: opens a session, connects with the session's own token, keeps
 * it alive, and comes back after drops.
 */
import type { OpenSessionBody, SessionOpened } from '../http/sessions.ts';
import type { Connection } from './connection.ts';
import { createHostClient, type HostClientOptions } from './host-client.ts';
import { httpConnection } from './http-connection.ts';
import type { ReconnectOptions } from './reconnect-options.ts';
import { reconnecting } from './reconnecting.ts';
import { createToolClient } from './tool-client.ts';
import type { ToolClient, ToolClientOptions } from './tool-client-interface.ts';
import type { LooseTools, ToolMap } from './tool-map.ts';
import { type WebSocketConnectionOptions, webSocketConnection } from './web-socket-connection.ts';

export interface ConnectToHostOptions extends HostClientOptions {
  /** `ws` unless told otherwise. */
  readonly transport?: 'ws' | 'http';
  readonly session?: OpenSessionBody;
  readonly WebSocket?: WebSocketConnectionOptions['WebSocket'];
  readonly client?: Omit<ToolClientOptions, 'sessionId'>;
  readonly reconnect?: Omit<ReconnectOptions, 'sessionId' | 'onSessionLost'>;
  /** Opens a session of the same kind when this one is lost. Left out: the client ends with it. */
  readonly reopen?: boolean;
}

export interface HostSession<Tools extends ToolMap<Tools> = LooseTools> extends ToolClient<Tools> {
  /** The session in use now. */
  readonly session: SessionOpened;
  /** Cancels what still runs, ends the session, then the connection. */
  close(): Promise<void>;
}

/** A session that cannot be ended in this time is left to its own expiry. */
const CLOSE_MS = 5000;

export async function connectToHost<Tools extends ToolMap<Tools> = LooseTools>(
  options: ConnectToHostOptions,
): Promise<HostSession<Tools>> {
  const { url, fetch } = options;
  const host = createHostClient(options);
  const state = { session: await host.openSession(options.session) };
  const { session_id: sessionId, heartbeat_timeout_ms } = state.session;
  const access = () => ({ url, token: state.session.token, ...(fetch === undefined ? {} : { fetch }) });
  const used = new Set<string>();

  /** From the second time on the host is asked first: a WebSocket cannot say why it was refused. */
  async function connect(): Promise<Connection> {
    const { session } = state;
    if (used.has(session.session_id)) await createHostClient(access()).session(session.session_id);
    used.add(session.session_id);
    if (options.transport === 'http') return httpConnection({ ...access(), session });
    const { WebSocket } = options;
    return webSocketConnection({ url, token: session.token, ...(WebSocket === undefined ? {} : { WebSocket }) });
  }

  async function reopen(): Promise<SessionOpened> {
    state.session = await host.openSession(options.session);
    return state.session;
  }

  const connection = reconnecting(connect, {
    ...options.reconnect,
    sessionId,
    ...(options.reopen === true ? { onSessionLost: reopen } : {}),
  });
  const client = createToolClient<Tools>(connection, {
    heartbeatMs: heartbeat_timeout_ms / 3,
    ...options.client,
    sessionId,
  });
  const close = async (): Promise<void> => {
    const ending = { mode: 'cancel', signal: AbortSignal.timeout(CLOSE_MS) } as const;
    // The session may be gone, or the host: either way the connection is closed.
    await host.closeSession(state.session.session_id, ending).catch(() => undefined);
    await client.close();
  };
  const connected: HostSession<Tools> = {
    get session() {
      return state.session;
    },
    ready: () => client.ready(),
    call: (tool, args, callOptions) => client.call(tool, args, callOptions),
    heartbeat: () => client.heartbeat(),
    events: (eventsOptions) => client.events(eventsOptions),
    close,
  };
  try {
    await client.ready();
  } catch (thrown) {
    await close();
    throw thrown;
  }
  return connected;
}
