/**
 * The only way out for sandboxed commands: an HTTP proxy on a Unix socket, which checks every target as our own client does
 * and connects only to addresses that were checked.
 *
 * It offers plain requests and tunnels. What goes through a tunnel is encrypted and not looked into; its target is checked
 * all the same, and a refusal is told in words, so that readers of the command's output learn what to do.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { toToolError } from '@tool-runtime/protocol';
import { isAddress } from '../../egress/domain-entry.ts';
import { egressRefused } from '../../egress/egress-refused.ts';
import { judgeAddresses } from '../../egress/judge-address.ts';
import { type JudgedUrl, judgeUrl } from '../../egress/judge-url.ts';
import {
  createPinnedAgents,
  type Pin,
  type PinnedAgents,
  pinnedLookup,
  type ResolveHost,
  resolveHost,
} from '../network/pinned-agents.ts';

export interface EgressProxyOptions {
  readonly allowedDomains: readonly string[];
  readonly resolve?: ResolveHost;
}

export interface EgressProxy {
  /** Real path of the Unix socket; no other user of this machine may reach it. */
  readonly socket: string;
  /** Breaks off what is still open. */
  close(): Promise<void>;
}

interface Network {
  readonly allowedDomains: readonly string[];
  readonly resolve: ResolveHost;
  readonly agents: PinnedAgents;
}

/** They concern one connection, not the request that travels over two. */
const HOP_HEADERS = new Set([
  ...['connection', 'proxy-connection', 'keep-alive', 'transfer-encoding', 'te', 'trailer', 'upgrade'],
  ...['proxy-authorization', 'proxy-authenticate'],
]);

export async function openEgressProxy(options: EgressProxyOptions): Promise<EgressProxy> {
  const folder = realpathSync.native(mkdtempSync(join(tmpdir(), 'tool-runtime-')));
  const socket = join(folder, 'proxy');
  const network: Network = {
    allowedDomains: options.allowedDomains,
    resolve: options.resolve ?? resolveHost,
    agents: createPinnedAgents(),
  };
  const open = new Set<Duplex>();
  const server = createServer((request, response) => void forward(request, response, network))
    .on('connect', (request, client, head) => void tunnel(request, client, { network, open, head }))
    .on('connection', (client) => track(open, client));
  await listening(server, socket);
  return {
    socket,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const stream of open) stream.destroy();
      network.agents.close();
      await closed;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The proxy alone keeps no process alive: it serves commands, and they do. */
function listening(server: Server, socket: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(socket, () => resolve());
    server.unref();
  });
}

function track(open: Set<Duplex>, stream: Duplex): void {
  open.add(stream);
  stream.once('close', () => open.delete(stream)).on('error', () => stream.destroy());
}

async function pinTarget(target: JudgedUrl, network: Network): Promise<Pin> {
  const { host, port, url } = target;
  const origin = `${url.protocol}//${host}:${port}`;
  if (isAddress(host)) return { origin, addresses: [host.replace(/^\[|\]$/g, '')] };
  const addresses = await network.resolve(host);
  return { origin, addresses: judgeAddresses({ host, port, addresses }, network.allowedDomains) };
}

async function forward(request: IncomingMessage, response: ServerResponse, network: Network): Promise<void> {
  try {
    const target = judgeUrl(request.url ?? '', network.allowedDomains);
    if (target.url.protocol !== 'http:') throw onlyTunnels(target.host);
    const onward = httpRequest({
      ...network.agents.optionsFor(await pinTarget(target, network), 'once'),
      method: request.method,
      host: target.host.replace(/^\[|\]$/g, ''),
      port: target.port,
      path: target.url.pathname + target.url.search,
      headers: { ...onwardHeaders(request.headers), host: target.url.host },
      setHost: false,
    });
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, onwardHeaders(answer.headers));
      answer.on('error', () => response.destroy()).pipe(response);
    });
    onward.on('error', (thrown) => refuse(response, thrown));
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  } catch (thrown) {
    refuse(response, thrown);
  }
}

function onlyTunnels(host: string): Error {
  const next = 'ask the proxy for a tunnel (CONNECT), as clients do for https';
  return egressRefused('Proxy forwards plain http only', { host, reason: 'scheme', next });
}

function onwardHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const kept = Object.entries(headers).filter(([name]) => !HOP_HEADERS.has(name) && !named.includes(name));
  return Object.fromEntries(kept);
}

function refuse(response: ServerResponse, thrown: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, words } = refusal(thrown);
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(words);
}

interface TunnelSetting {
  readonly network: Network;
  readonly open: Set<Duplex>;
  /** What the client sent without waiting for the tunnel. */
  readonly head: Uint8Array;
}

async function tunnel(request: IncomingMessage, client: Duplex, { network, open, head }: TunnelSetting): Promise<void> {
  try {
    const target = judgeUrl(`https://${tunnelTarget(request.url ?? '')}/`, network.allowedDomains);
    const { addresses } = await pinTarget(target, network);
    if (client.destroyed) return;
    const server = connect({
      host: target.host.replace(/^\[|\]$/g, ''),
      port: target.port,
      lookup: pinnedLookup(addresses),
    });
    track(open, server);
    client.once('close', () => server.destroy());
    server.once('close', () => client.destroy());
    server.once('error', (thrown) => refuseTunnel(client, thrown));
    server.once('connect', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      server.write(head);
      client.pipe(server).pipe(client);
    });
  } catch (thrown) {
    refuseTunnel(client, thrown);
  }
}

/** Only `host:port`: whatever else could be read as part of a URL must not reach the parser. */
function tunnelTarget(authority: string): string {
  if (/^(?:[^\s/?#@:[\]]+|\[[0-9A-Fa-f:.]+\]):\d{1,5}$/.test(authority)) return authority;
  throw egressRefused('Tunnel target is not host and port', { reason: 'unparsable', next: 'name a host and a port' });
}

function refuseTunnel(client: Duplex, thrown: unknown): void {
  if (client.destroyed) return;
  const { status, words } = refusal(thrown);
  const reason = status === 403 ? 'Forbidden' : 'Bad Gateway';
  const head = `HTTP/1.1 ${status} ${reason}\r\nContent-Type: text/plain; charset=utf-8\r\n`;
  client.end(`${head}Content-Length: ${Buffer.byteLength(words)}\r\nConnection: close\r\n\r\n${words}`);
}

function refusal(thrown: unknown): { readonly status: number; readonly words: string } {
  const { code, message, details } = toToolError(thrown);
  if (code !== 'E_POLICY') return { status: 502, words: 'The target could not be reached\n' };
  return { status: 403, words: `${message}\n${details['next'] ?? ''}\n` };
}
