/**
 * A running host: the parts of `host/` behind real sockets. The `serve` command is a thin cover over this, and programs
 * that embed a host call it directly.
 */
import { readFileSync } from 'node:fs';
import type { AddressInfo, Server, Socket } from 'node:net';
import { resolve } from 'node:path';
import { ToolError } from '@tool-runtime/protocol';
import { type AstPlugin, createRuntime, type GoverningPlace, type RuntimeOptions } from '@tool-runtime/sdk';
import { createRedactor } from '@tool-runtime/sdk/parts';
import { createExposure } from './auth/exposure.ts';
import { addressSource } from './auth/failed-attempts.ts';
import { liesInside } from './auth/lies-inside.ts';
import { createPeerReader, listenUnix, peerPrincipal } from './auth/listen-unix.ts';
import { createToken } from './auth/token-digest.ts';
import { createTokenBook, type TokenBook } from './auth/tokens.ts';
import { createDocuments } from './describe/documents.ts';
import { fleetParts, openFleetEntrance, routeMcp } from './fleet/fleet-entrance.ts';
import type { HostFleet } from './fleet/host-fleet.ts';
import { createApp } from './http/create-app.ts';
import { createGatekeeper, type Gatekeeper } from './http/gatekeeper.ts';
import type { McpExtras } from './mcp/server/host-backend.ts';
import { lazyMcpEndpoint } from './mcp/server/lazy-endpoint.ts';
import { hostVersion } from './ops/host-version.ts';
import { createLog, type Log } from './ops/log.ts';
import { createHost, type Host } from './sessions/create-host.ts';
import { DEFAULT_LIMITS, type HostLimits } from './sessions/host-limits.ts';
import { createHttpServer } from './transports/http-server.ts';
import { createUnixServer } from './transports/unix-socket.ts';

/** Without `tokens`, a token is made for this run; without `log`, warnings go to stderr. */
export interface StartHostOptions extends Partial<EmbeddingParts> {
  /** Folders sessions may work in; the first is the default. */
  readonly workspaces: readonly string[];
  readonly state?: string;
  /** Where to listen for HTTP and WebSocket; port 0 takes a free one. */
  readonly http?: { readonly hostname: string; readonly port: number };
  /** Path of a Unix socket. */
  readonly socket?: string;
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
  /** Needed to listen beyond this machine without TLS. */
  readonly allowPlaintext?: boolean;
  /** Names in addition to loopback that clients may use for this host. */
  readonly allowHosts?: readonly string[];
  /** Web pages that may talk to it. */
  readonly allowOrigins?: readonly string[];
  readonly limits?: Partial<HostLimits>;
  /**
   * What every runtime gets: registry, tools, rules, hooks, coordinator, telemetry. A function is asked anew for each
   * runtime; then the host follows changes of the registry, of trust and of approved definitions while it runs.
   */
  readonly runtime?: HostRuntimeOptions | (() => HostRuntimeOptions);
  /** Code intelligence, made anew for each workspace (`createAst` of the ast package). */
  readonly ast?: () => AstPlugin;
  /** The fleet it is part of; calls to its workspaces then come from there too. */
  readonly fleet?: HostFleet;
  /** What `/mcp` offers in addition to the tools. */
  readonly mcp?: McpExtras;
  /** How long running calls may take to end when the host stops. */
  readonly drainMs?: number;
  readonly onStopRequested?: () => void;
}

export type HostRuntimeOptions = Omit<RuntimeOptions, 'workspace' | 'state' | 'approvals' | 'ast'>;

export interface RunningHost {
  readonly host: Host;
  /** `http://127.0.0.1:7411`, when it listens for HTTP. */
  readonly url: string | undefined;
  readonly socket: string | undefined;
  /** The token made for this run, with every scope; undefined when `tokens` were given. */
  readonly token: string | undefined;
  /** Takes no more calls, lets the running ones end or cancels them at the deadline, then closes everything. */
  stop(options?: { readonly now?: boolean }): Promise<void>;
  /** Cancels what a stop still waits for. */
  hurry(): void;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/;
const DRAIN_MS = 30_000;

type FilledOptions = StartHostOptions & FilledParts;

export async function startHost(given: StartHostOptions): Promise<RunningHost> {
  refuseBareExposure(given);
  refuseReachableSocket(given);
  const options: FilledOptions = { ...given, ...fillParts(given) };
  const { ast, fleet } = options;
  const limits: HostLimits = { ...DEFAULT_LIMITS, ...fleetLimits(fleet), ...options.limits };
  const host = await createHost({
    folders: options.workspaces,
    ...(fleet === undefined ? {} : { nameOf: fleet.nameOf }),
    ...(options.state === undefined ? {} : { state: options.state }),
    createRuntime(own) {
      const given = givenTo(options);
      return createRuntime({
        ...given,
        ...own,
        governing: [...(given.governing ?? []), ...governingFiles(options)],
        ...(ast === undefined ? {} : { ast: ast() }),
        ...(fleet === undefined ? {} : fleetParts(fleet, fleet.nameOf(own.workspace), given.budget)),
      });
    },
    ...(typeof options.runtime === 'function' ? { reload: { registry: options.runtime().registry } } : {}),
    tokens: options.tokens,
    limits,
    serverVersion: options.serverVersion,
    log: options.log,
    onStopRequested: options.onStopRequested ?? (() => {}),
  });
  const own = lazyMcpEndpoint(host, options.mcp ?? {});
  const opened: Opened = { servers: [], mcp: routeMcp(own, host.workspaces, fleet) };
  try {
    const url = options.http === undefined ? undefined : await openHttp(host, options, options.http, opened);
    const socket = options.socket === undefined ? undefined : await openUnix(host, options, options.socket, opened);
    host.state = 'ready';
    if (fleet !== undefined) await openFleet(host, options, fleet, own);
    const hurry = new AbortController();
    let stopped: Promise<void> | undefined;
    return {
      host,
      url,
      socket,
      token: options.token,
      hurry: () => hurry.abort(),
      stop({ now = false } = {}) {
        if (now) hurry.abort();
        const deadline = AbortSignal.any([hurry.signal, AbortSignal.timeout(options.drainMs ?? DRAIN_MS)]);
        stopped ??= stopHost(host, { ...opened, fleet }, deadline);
        return stopped;
      },
    };
  } catch (thrown) {
    await closeServers(opened);
    await host.close();
    throw thrown;
  }
}

function givenTo({ runtime = {} }: StartHostOptions): HostRuntimeOptions {
  return typeof runtime === 'function' ? runtime() : runtime;
}

interface Opened {
  readonly servers: { close(): Promise<void> }[];
  /** Shared by all addresses. */
  readonly mcp: ReturnType<typeof lazyMcpEndpoint>;
}

async function openHttp(
  host: Host,
  options: FilledOptions,
  { hostname, port }: { readonly hostname: string; readonly port: number },
  opened: Opened,
): Promise<string> {
  const { tls } = options;
  const { allowHosts = [], allowOrigins = [] } = options;
  const isTls = tls !== undefined;
  // Until the port is known nothing is ours, so nothing is let in.
  let exposure = createExposure({ addresses: [], allowHosts, allowOrigins, isTls });
  const gatekeeper = createGatekeeper({
    tokens: options.tokens,
    exposure: () => exposure,
    peerOf: () => undefined,
    console: host.console,
    attempts: host.attempts,
    sourceOf: ({ remoteAddress }) => addressSource(remoteAddress),
  });
  const server = createHttpServer({
    host,
    gatekeeper,
    app: createApp({ host, gatekeeper, mcp: opened.mcp, documents: createDocuments(host.serverVersion) }),
    tls: tls === undefined ? undefined : { cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) },
  });
  const close = closer(server);
  await listening(server, () => server.listen(port, hostname));
  opened.servers.push({
    async close() {
      const closed = close();
      server.closeIdleConnections();
      await closed;
    },
  });
  const address = server.address() as AddressInfo;
  exposure = createExposure({ addresses: [address], allowHosts, allowOrigins, isTls });
  const name = hostname.includes(':') ? `[${hostname}]` : hostname;
  return `${isTls ? 'https' : 'http'}://${name}:${address.port}`;
}

async function openUnix(host: Host, options: FilledOptions, path: string, opened: Opened): Promise<string> {
  const exposure = createExposure({ addresses: [], allowOrigins: options.allowOrigins ?? [], isUnix: true });
  const peers = createPeerReader();
  const peerOf = (socket: Socket) => peerPrincipal(peers.peerOf(socket));
  const sourceOf = (socket: Socket): string => `uid:${peers.peerOf(socket)?.uid ?? 'unknown'}`;
  const { tokens } = options;
  const gatekeeper = createGatekeeper({ tokens, exposure: () => exposure, peerOf, attempts: host.attempts, sourceOf });
  const http = createHttpServer({
    host,
    gatekeeper,
    app: createApp({ host, gatekeeper, mcp: opened.mcp, documents: createDocuments(host.serverVersion) }),
  });
  const server = createUnixServer({ host, http, principalOf: peerOf, sourceOf });
  const close = closer(server);
  const listener = await listenUnix(server, path, peers);
  opened.servers.push({
    async close() {
      listener.release();
      const closed = close();
      http.closeIdleConnections();
      await closed;
    },
  });
  return listener.path;
}

function fleetLimits(fleet: HostFleet | undefined): Partial<HostLimits> {
  return fleet?.maxCalls === undefined ? {} : { maxWorkspaceCalls: fleet.maxCalls };
}

async function openFleet(host: Host, options: FilledOptions, fleet: HostFleet, mcp: Opened['mcp']): Promise<void> {
  const documents = createDocuments(host.serverVersion);
  const app = (gatekeeper: Gatekeeper) => createApp({ host, gatekeeper, mcp, documents });
  await openFleetEntrance({ host, fleet, tokens: options.tokens, createApp: app });
}

interface Stopping extends Opened {
  readonly fleet: HostFleet | undefined;
}

async function stopHost(host: Host, { fleet, ...opened }: Stopping, deadline: AbortSignal): Promise<void> {
  host.log.info('draining', { in_flight: host.status().in_flight });
  await host.drain(deadline);
  for (const goAway of host.goingAway) goAway();
  await fleet?.drain();
  await closeServers(opened);
  await fleet?.close();
  await host.close();
  host.log.info('stopped', {});
}

async function closeServers({ servers, mcp }: Opened): Promise<void> {
  await mcp.close();
  await Promise.all(servers.map((server) => server.close()));
}

/** Connections that are still open then are cut off. */
const GOODBYE_MS = 1000;

/** Follows every socket from its first byte: what was upgraded or never spoke is not in Node's own list. */
function closer(server: Server): () => Promise<void> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const cut = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, GOODBYE_MS);
    await closed;
    clearTimeout(cut);
  };
}

function listening(server: Server, listen: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (thrown: NodeJS.ErrnoException) => reject(cannotListen(thrown)));
    server.once('listening', resolve);
    listen();
  });
}

function cannotListen(thrown: NodeJS.ErrnoException): ToolError {
  const isTaken = thrown.code === 'EADDRINUSE';
  const { address, port } = thrown as NodeJS.ErrnoException & { readonly address?: string; readonly port?: number };
  const place = port === undefined ? (address ?? '') : `${address}:${port}`;
  const why = isTaken ? `the address is taken: ${place}` : (thrown.code ?? 'unknown');
  return new ToolError('E_INTERNAL', `Cannot listen: ${why}`, {
    details: { reason: 'cannot_listen', next: 'choose another with --http HOST:PORT; port 0 takes a free one' },
    cause: thrown,
  });
}

/** What decides who may use this host, wherever it lies. */
function governingFiles({ tokens, socket, tls, state }: FilledOptions): readonly GoverningPlace[] {
  const paths = [tokens.file, socket, tls?.keyFile, state].filter((path) => path !== undefined);
  return paths.map((path) => ({ path: resolve(path), access: 'none' }));
}

/** Programs that start before the socket exists could not be kept from it. */
function refuseReachableSocket({ socket, workspaces }: StartHostOptions): void {
  if (socket === undefined || !liesInside(socket, workspaces)) return;
  throw new ToolError('E_POLICY', `Socket lies inside a workspace, where tools could reach it: ${socket}`, {
    details: { gate: 'exposure', reason: 'socket_in_workspace', next: 'name one outside' },
  });
}

/** Tokens in the clear are for this machine only. */
function refuseBareExposure({ http, tls, allowPlaintext }: StartHostOptions): void {
  if (http === undefined || tls !== undefined || allowPlaintext === true || LOOPBACK.test(http.hostname)) return;
  throw new ToolError('E_POLICY', `Listening beyond this machine needs TLS: ${http.hostname}`, {
    details: {
      reason: 'plaintext_exposure',
      next: 'give --tls-cert and --tls-key, or --allow-plaintext behind a proxy that adds TLS',
    },
  });
}

interface EmbeddingParts {
  readonly tokens: TokenBook;
  readonly log: Log;
  readonly serverVersion: string;
}

interface FilledParts extends EmbeddingParts {
  /** The one token there is, with every scope; undefined when the program brought its own. */
  readonly token: string | undefined;
}

/** What a program that embeds a host may leave out: a token made for this run, and warnings on stderr. */
export function fillParts({ tokens, log, serverVersion }: Partial<EmbeddingParts>): FilledParts {
  const token = tokens === undefined ? createToken() : undefined;
  return {
    token,
    tokens: tokens ?? createTokenBook({ lines: token === undefined ? [] : [token], now: Date.now }),
    log: log ?? stderrLog(),
    serverVersion: serverVersion ?? hostVersion(),
  };
}

function stderrLog(): Log {
  return createLog({
    stream: process.stderr,
    level: 'warn',
    format: 'text',
    redact: createRedactor().redactText,
  });
}
