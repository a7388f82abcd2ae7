/**
 * `/mcp` on the host. 2026 requests stand alone, and their credential is what ties them to a session of ours. 2025 clients
 * get sessions of the protocol, because only those can be asked a question in the middle of a call.
 */
import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import {
  type AuthInfo,
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  type Server,
  type ServerEvent,
  type ServerEventBus,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Principal } from '../../auth/principal.ts';
import type { McpEndpoint } from '../../http/route.ts';
import type { Host } from '../../sessions/create-host.ts';
import { resolveProfile } from '../profiles/profiles.ts';
import { createMcpServer } from './create-mcp-server.ts';
import { createHostBackend, type HostBackend, type McpExtras } from './host-backend.ts';
import { createHeaderCheck } from './param-headers.ts';
import { type Frame, readFrame } from './read-frame.ts';
import { StreamLog } from './stream-log.ts';

interface LegacySession {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly backend: HostBackend;
  /** The principal that may come back to it. */
  readonly holder: string;
  /** Ends the announcements. */
  readonly leave: () => void;
  lastSeen: number;
}

const MAX_PRINCIPALS = 1024;
const SWEEP_MS = 10_000;
/** When a client of 2025 comes back after its stream ended. */
const RETRY_MS = 1000;

export function createMcpEndpoint(host: Host, extras: McpExtras = {}): McpEndpoint {
  const backends = new Map<string, HostBackend>();
  const legacy = new Map<string, LegacySession>();
  const wrongHeaders = createHeaderCheck();
  const maxRequestBodySize = host.maxRequestBytes;
  const profileOf = ({ principal, profile }: Omit<Asked, 'body'>) =>
    resolveProfile({ profile, lists: host.workspaceFor(principal).runtime.registry.toolProfiles });
  const modern: McpHttpHandler = createMcpHandler(({ authInfo }) => createMcpServer(backendOf(authInfo)), {
    legacy: 'reject',
    maxRequestBodySize,
    ...(extras.changes === undefined ? {} : { bus: extras.changes }),
    onerror: (error) => host.log.debug('mcp_request_refused', { error }),
  });
  const sweeper = setInterval(sweep, SWEEP_MS);
  sweeper.unref();
  host.workspaces.onChange(() => {
    for (const backend of [...backends.values(), ...Array.from(legacy.values(), (session) => session.backend)]) {
      backend.renew();
    }
    modern.bus.publish({ kind: 'tools_list_changed' });
  });

  /** Silent for as long as a session of ours may be. */
  function sweep(): void {
    const limit = performance.now() - host.limits.idleMs;
    for (const [id, session] of legacy) if (session.lastSeen < limit) void end(id, session);
  }

  async function end(id: string, { transport, backend, leave }: LegacySession): Promise<void> {
    legacy.delete(id);
    leave();
    await transport.close();
    await backend.close();
  }

  function backendOf(authInfo: AuthInfo | undefined): HostBackend {
    const { principal, profile } = (authInfo as AuthInfo).extra as unknown as Omit<Asked, 'body'>;
    const key = `${holderOf(principal)} ${profile}`;
    const known = backends.get(key);
    if (known !== undefined) return known;
    const backend = create(principal, profile);
    backends.set(key, backend);
    const [oldest] = backends.keys();
    if (backends.size > MAX_PRINCIPALS && oldest !== undefined) backends.delete(oldest);
    return backend;
  }

  function create(principal: Principal, profile: string): HostBackend {
    return createHostBackend({ host, principal, profile: profileOf({ principal, profile }), extras });
  }

  async function serveLegacy(request: Request, asked: Asked): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    const known = id === null ? undefined : legacy.get(id);
    if (known !== undefined && known.holder === holderOf(asked.principal)) {
      known.lastSeen = performance.now();
      return known.transport.handleRequest(request, { parsedBody: asked.body });
    }
    if (id !== null) return noSuchSession();
    return openLegacy(request, asked);
  }

  async function openLegacy(request: Request, { principal, profile, body }: Asked): Promise<Response> {
    const backend = create(principal, profile);
    const server = createMcpServer(backend);
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize,
      eventStore: new StreamLog(),
      retryInterval: RETRY_MS,
      onsessioninitialized: (id) => {
        const leave = followChanges(server, modern.bus);
        legacy.set(id, { transport, backend, holder: holderOf(principal), leave, lastSeen: performance.now() });
      },
      onsessionclosed: async (id) => {
        const session = legacy.get(id);
        if (session !== undefined) await end(id, session);
      },
    });
    await server.connect(transport);
    return transport.handleRequest(request, { parsedBody: body });
  }

  return {
    async fetch(request, principal) {
      const profile = new URL(request.url).searchParams.get('profile') ?? 'core';
      profileOf({ principal, profile });
      const frame = await readPost(request, maxRequestBodySize);
      if (frame?.ok === false && frame.refusal !== undefined) return refused(frame.refusal);
      // Undefined where there is no body, or none the SDK could read either: it says so in its own words.
      const body = frame?.ok === true ? frame.message : undefined;
      const asked: Asked = { principal, profile, body };
      if (await isLegacyRequest(request.clone() as Request, body, { maxRequestBodySize })) {
        return serveLegacy(request, asked);
      }
      const authInfo = authInfoOf(asked);
      return (
        (await wrongHeaders(request.headers, body, () => backendOf(authInfo))) ??
        modern.fetch(request, { authInfo, parsedBody: body })
      );
    },
    async close() {
      clearInterval(sweeper);
      await modern.close();
      await Promise.all(Array.from(legacy, ([id, session]) => end(id, session)));
    },
  };
}

interface Asked {
  readonly principal: Principal;
  readonly profile: string;
  readonly body: unknown;
}

/** Undefined where the method has no body, or the body is larger than the limit. */
async function readPost(request: Request, maxBytes: number): Promise<Frame | undefined> {
  if (request.method !== 'POST') return undefined;
  const body = (request.clone() as Request).body;
  if (body === null) return undefined;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks, bytes);
  if (!isUtf8(text)) return { ok: false, refusal: NOT_UTF8 };
  return readFrame(text.toString('utf8'), maxBytes);
}

const NOT_UTF8 = JSON.stringify({
  jsonrpc: '2.0',
  id: null,
  error: {
    code: -32_700,
    message: 'Body is not valid UTF-8',
    data: { code: 'E_VALIDATION_FAIL', reason: 'invalid_utf8' },
  },
});

function refused(body: string): Response {
  return new Response(body, { status: 400, headers: { 'content-type': 'application/json' } });
}

/** The owner of a session and the holder of its token are not the same: the owner reaches more. */
function holderOf({ id, sessionId = '', workspace = '' }: Principal): string {
  return JSON.stringify([id, sessionId, workspace]);
}

/** How the SDK passes on what we know about the sender. The token itself stays with us. */
function authInfoOf(asked: Asked): AuthInfo {
  const { id, scopes } = asked.principal;
  return {
    token: '',
    clientId: id,
    scopes: [...scopes],
    extra: { principal: asked.principal, profile: asked.profile },
  };
}

function noSuchSession(): Response {
  const error = { jsonrpc: '2.0', error: { code: -32_001, message: 'Session not found' }, id: null };
  return Response.json(error, { status: 404 });
}

/** Ends with the returned function. */
function followChanges(server: Server, changes: ServerEventBus): () => void {
  const watched = new Set<string>();
  server.setRequestHandler('resources/subscribe', async ({ params }) => {
    watched.add(params.uri);
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', async ({ params }) => {
    watched.delete(params.uri);
    return {};
  });
  return changes.subscribe((event) => {
    // A client that is gone hears nothing.
    tell(server, event, watched)?.catch(() => {});
  });
}

function tell(server: Server, event: ServerEvent, watched: ReadonlySet<string>): Promise<void> | undefined {
  if (event.kind === 'tools_list_changed') return server.sendToolListChanged();
  if (event.kind === 'prompts_list_changed') return server.sendPromptListChanged();
  if (event.kind === 'resources_list_changed') return server.sendResourceListChanged();
  return watched.has(event.uri) ? server.sendResourceUpdated({ uri: event.uri }) : undefined;
}
