/**
 * From an address and a token to a client that is ready: opens a session, connects with the session's own token, keeps
 * it alive, and comes back after drops.
 */
import type { ChildOpened, DetachChildBody, OpenChildBody, SessionUsage } from '../envelopes/children.ts';
import type { OpenSessionBody, SessionOpened } from '../envelopes/sessions.ts';
import type { ReconnectOptions } from './backoff.ts';
import type { Connection } from './connection.ts';
import { createHostClient, type HostClient, type HostClientOptions } from './host-client.ts';
import { httpConnection } from './http-connection.ts';
import { reconnecting } from './reconnecting.ts';
import { createToolClient } from './tool-client.ts';
import type { LooseTools, ToolClient, ToolClientOptions, ToolMap } from './tool-client-interface.ts';
import { type WebSocketConnectionOptions, webSocketConnection } from './web-socket-connection.ts';

export interface ConnectToHostOptions extends HostClientOptions {
  /** `ws` by default. */
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
  /** A session of its own that can do less than this one, on a connection of its own. */
  openChild<ChildTools extends ToolMap<ChildTools> = Tools>(body: OpenChildBody): Promise<HostChildSession<ChildTools>>;
  /** Cancels what still runs, in children too, ends the session, then the connection. */
  close(): Promise<void>;
}

export interface HostChildSession<Tools extends ToolMap<Tools> = LooseTools> extends HostSession<Tools> {
  readonly session: ChildOpened;
  /** Ends the child after its running calls. Rejects, and nothing has changed, while it has children. */
  complete(): Promise<SessionUsage>;
  /** Cancels what still runs, in its children too, and ends the child. */
  cancel(): Promise<SessionUsage>;
  /** The child goes on without its parent. */
  detach(body: DetachChildBody): Promise<void>;
}

/** A session that cannot be ended in this time is left to its own expiry. */
const CLOSE_MS = 5000;

export async function connectToHost<Tools extends ToolMap<Tools> = LooseTools>(
  options: ConnectToHostOptions,
): Promise<HostSession<Tools>> {
  const host = createHostClient(options);
  const open = (): Promise<SessionOpened> => host.openSession(options.session);
  return connectSession<Tools, SessionOpened>(options, { opened: await open(), open, host });
}

interface OpenedSession<Opened> {
  readonly opened: Opened;
  /** Another of the same kind. */
  readonly open?: () => Promise<Opened>;
  /** Who may end it; with the token of the session itself when left out. */
  readonly host?: HostClient;
}

type Connected<Tools extends ToolMap<Tools>, Opened> = HostSession<Tools> & { readonly session: Opened };

async function connectSession<Tools extends ToolMap<Tools>, Opened extends SessionOpened>(
  options: ConnectToHostOptions,
  { opened, open, host }: OpenedSession<Opened>,
): Promise<Connected<Tools, Opened>> {
  const { url, fetch, WebSocket } = options;
  const state = { session: opened };
  const { session_id: sessionId, heartbeat_timeout_ms } = opened;
  const access = () => ({ url, token: state.session.token, ...(fetch === undefined ? {} : { fetch }) });
  const own = (): HostClient => createHostClient(access());
  const used = new Set<string>();

  /** From the second time on the host is asked first: a WebSocket cannot say why it was refused. */
  async function connect(): Promise<Connection> {
    const { session } = state;
    if (used.has(session.session_id)) await own().session(session.session_id);
    used.add(session.session_id);
    if (options.transport === 'http') return httpConnection({ ...access(), session });
    return webSocketConnection({ url, token: session.token, ...(WebSocket === undefined ? {} : { WebSocket }) });
  }

  async function reopen(again: () => Promise<Opened>): Promise<Opened> {
    state.session = await again();
    return state.session;
  }

  const connection = reconnecting(connect, {
    ...options.reconnect,
    sessionId,
    ...(options.reopen === true && open !== undefined ? { onSessionLost: () => reopen(open) } : {}),
  });
  const client = createToolClient<Tools>(connection, {
    heartbeatMs: heartbeat_timeout_ms / 3,
    ...options.client,
    sessionId,
  });
  const close = async (): Promise<void> => {
    const ending = { mode: 'cancel', signal: AbortSignal.timeout(CLOSE_MS) } as const;
    // The session may be gone, or the host: either way the connection is closed.
    await (host ?? own()).closeSession(state.session.session_id, ending).catch(() => undefined);
    await client.close();
  };
  const connected: Connected<Tools, Opened> = {
    get session() {
      return state.session;
    },
    ready: () => client.ready(),
    call: (tool, args, callOptions) => client.call(tool, args, callOptions),
    batch: (calls, batchOptions) => client.batch(calls, batchOptions),
    heartbeat: () => client.heartbeat(),
    events: (eventsOptions) => client.events(eventsOptions),
    openChild: (body) => openChild(options, { parent: own(), parentId: state.session.session_id, body }),
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

interface ChildRequest {
  /** With the token of the parent's session. */
  readonly parent: HostClient;
  readonly parentId: string;
  readonly body: OpenChildBody;
}

async function openChild<Tools extends ToolMap<Tools>>(
  options: ConnectToHostOptions,
  { parent, parentId, body }: ChildRequest,
): Promise<HostChildSession<Tools>> {
  const opened = await parent.openChild(parentId, body);
  const { session_id: childId } = opened;
  const child = await connectSession<Tools, ChildOpened>(options, { opened });
  const own = createHostClient({ ...options, token: opened.token });
  const end = async (mode: 'wait' | 'cancel'): Promise<SessionUsage> => {
    const usage = await own.endChild(childId, { mode });
    await child.close();
    return usage;
  };
  return {
    ...child,
    session: opened,
    complete: () => end('wait'),
    cancel: () => end('cancel'),
    detach: (how) => parent.detachChild(childId, how),
  };
}
