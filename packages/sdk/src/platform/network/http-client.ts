/**
 * HTTP for tools. Every hop is checked by its text, its name looked up once, the addresses checked and pinned, and only
 * then dialled: a name that changes its mind between the judgement and the connection changes nothing.
 *
 * No cookies, no cache, no proxies. A status of 400 or 500 is an answer like any other.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { isToolError, ToolError } from '@tool-runtime/protocol';
import { failure } from '../../contracts/failures.ts';
import type { HttpAnswer, HttpRequest, OpenHttpClient } from '../../contracts/http.ts';
import { isAddress } from '../../egress/domain-entry.ts';
import { followRedirect, type Hop, isRedirect } from '../../egress/follow-redirect.ts';
import { judgeAddresses } from '../../egress/judge-address.ts';
import { judgeCredentials, judgeHeaders, judgeMethod, judgeQuery } from '../../egress/judge-headers.ts';
import { type JudgedUrl, judgeUrl } from '../../egress/judge-url.ts';
import { exchange, httpFailure, readBody } from './http-exchange.ts';
import { createPinnedAgents, type Pin, type PinnedAgents, type ResolveHost, resolveHost } from './pinned-agents.ts';

export interface HttpClientOptions {
  /** Registry entries in normal form. */
  readonly allowedDomains: readonly string[];
  /** Entries that may be sent credentials over plain http. None: no host. */
  readonly insecureCredentials?: readonly string[];
  readonly resolve?: ResolveHost;
  /** Certificates to trust instead of the system's, PEM. */
  readonly ca?: string;
}

interface Network {
  readonly allowedDomains: readonly string[];
  readonly insecureCredentials: readonly string[];
  readonly resolve: ResolveHost;
  readonly agents: PinnedAgents;
}

export function createHttpClient(options: HttpClientOptions): OpenHttpClient {
  const network: Network = {
    allowedDomains: options.allowedDomains,
    insecureCredentials: options.insecureCredentials ?? [],
    resolve: options.resolve ?? resolveHost,
    agents: createPinnedAgents(options.ca === undefined ? {} : { ca: options.ca }),
  };
  return {
    send: (request) => send(request, network),
    close: () => network.agents.close(),
  };
}

async function send(request: HttpRequest, network: Network): Promise<HttpAnswer> {
  const first: Hop = {
    method: judgeMethod(request.method),
    target: judgeUrl(request.url, network.allowedDomains),
    headers: judgeHeaders(request.headers),
    body: request.body,
  };
  judgeQuery(first.target.url, network.insecureCredentials);
  const deadline = startDeadline(request, first.target.host);
  try {
    return await followHops(first, request.maxBytes, network, deadline.signal);
  } catch (thrown) {
    throw deadline.signal.aborted ? deadline.signal.reason : thrown;
  } finally {
    deadline.clear();
  }
}

async function followHops(first: Hop, maxBytes: number, network: Network, stop: AbortSignal): Promise<HttpAnswer> {
  const redirects: string[] = [];
  for (let hop = first; ; ) {
    judgeCredentials(hop.target.url, hop.headers, network.insecureCredentials);
    const pin = await pinTarget(hop.target, network, stop);
    stop.throwIfAborted();
    const response = await exchange(hop, pin, network.agents, stop);
    const status = response.statusCode ?? 0;
    const { location } = response.headers;
    if (!isRedirect(status) || location === undefined) return readAnswer(response, hop, { maxBytes, redirects });
    response.destroy();
    hop = followRedirect(hop, { status, location: asText(location) }, redirects.length, network.allowedDomains);
    redirects.push(shownUrl(hop.target));
  }
}

/** The only lookup of a hop. An address in the URL is its own answer: it was allowed by being listed. */
async function pinTarget(target: JudgedUrl, network: Network, stop: AbortSignal): Promise<Pin> {
  const { host, port, url } = target;
  const origin = `${url.protocol}//${host}:${port}`;
  if (isAddress(host)) return { origin, addresses: [host.replace(/^\[|\]$/g, '')] };
  const addresses = await untilStopped(lookUp(host, network.resolve), stop);
  return { origin, addresses: judgeAddresses({ host, port, addresses }, network.allowedDomains) };
}

async function lookUp(host: string, resolve: ResolveHost): Promise<readonly string[]> {
  try {
    const addresses = await resolve(host);
    if (addresses.length > 0) return addresses;
  } catch (thrown) {
    throw httpFailure(thrown, host);
  }
  throw httpFailure({ code: 'ENODATA' }, host);
}

/** A lookup cannot be called off; its answer is no longer waited for. */
async function untilStopped<T>(running: Promise<T>, stop: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onStop = () => reject(stop.reason);
  if (stop.aborted) onStop();
  stop.addEventListener('abort', onStop, { once: true });
  try {
    return await Promise.race([running, promise]);
  } finally {
    stop.removeEventListener('abort', onStop);
  }
}

async function readAnswer(
  response: IncomingMessage,
  hop: Hop,
  { maxBytes, redirects }: { readonly maxBytes: number; readonly redirects: readonly string[] },
): Promise<HttpAnswer> {
  const { bytes, truncated, decoded } = await readBody(response, {
    method: hop.method,
    maxBytes,
    host: hop.target.host,
  });
  const headers = Object.entries(response.headersDistinct)
    .filter(([name]) => !decoded || (name !== 'content-encoding' && name !== 'content-length'))
    .map(([name, values]) => [name, (values ?? []).join(', ')]);
  return {
    status: response.statusCode ?? 0,
    headers: Object.fromEntries(headers),
    body: bytes,
    truncated,
    url: shownUrl(hop.target),
    redirects,
  };
}

function shownUrl({ url }: JudgedUrl): string {
  return url.hash === '' ? url.href : url.href.slice(0, -url.hash.length);
}

/** Headers arrive as Latin-1; servers that write other characters into Location mean UTF-8. */
function asText(location: string): string {
  const bytes = Buffer.from(location, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : location;
}

/** One clock over name lookup, all hops and the body. */
function startDeadline({ timeoutMs, signal }: HttpRequest, host: string) {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(
      new ToolError('E_TIMEOUT', `No complete answer within ${timeoutMs} ms: ${host}`, {
        path: 'url',
        details: { timeout_ms: timeoutMs, host, next: 'ask for less at once, or allow more time' },
      }),
    );
  }, timeoutMs);
  const onAbort = () => controller.abort(cancelReason(signal?.reason));
  if (signal?.aborted === true) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    clear() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}

function cancelReason(reason: unknown): ToolError {
  return isToolError(reason)
    ? reason
    : failure('cancellation', 'retryable', 'Request was cancelled', { cause: reason });
}
