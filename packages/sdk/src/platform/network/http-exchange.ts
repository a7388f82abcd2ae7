/** One request to pinned addresses, up to the head of its answer. Redirects and bodies are others' business. */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { isToolError, ToolError, toToolError } from '@tool-runtime/protocol';
import { isAddress } from '../../egress/domain-entry.ts';
import type { Hop } from '../../egress/follow-redirect.ts';
import type { Pin, PinnedAgents, PinnedRequestOptions } from './pinned-agents.ts';

const MAX_ANSWER_HEADER_BYTES = 32 * 1024;
/** Requests that change nothing may be sent again when a kept connection turns out to be dead. */
const REPEATABLE: readonly string[] = ['GET', 'HEAD'];

export async function exchange(hop: Hop, pin: Pin, agents: PinnedAgents, stop: AbortSignal): Promise<IncomingMessage> {
  if (!REPEATABLE.includes(hop.method)) return sendOnce(hop, agents.optionsFor(pin, 'once'), stop);
  const reuse = { reused: false };
  try {
    return await sendOnce(hop, agents.optionsFor(pin, 'kept'), stop, reuse);
  } catch (thrown) {
    // The server may close an idle connection at the very moment it is used again; that says nothing about the request.
    if (!reuse.reused || stop.aborted) throw thrown;
    return sendOnce(hop, agents.optionsFor(pin, 'once'), stop);
  }
}

function sendOnce(
  hop: Hop,
  pinned: PinnedRequestOptions,
  stop: AbortSignal,
  reuse?: { reused: boolean },
): Promise<IncomingMessage> {
  const { host } = hop.target;
  return new Promise((resolve, reject) => {
    const request = openRequest(hop, pinned);
    const onStop = () => request.destroy(toToolError(stop.reason));
    let answer: IncomingMessage | undefined;
    const fail = (thrown: unknown) => {
      if (reuse !== undefined) reuse.reused = request.reusedSocket;
      reject(httpFailure(thrown, host));
    };
    stop.addEventListener('abort', onStop, { once: true });
    request.on('response', (response) => {
      answer = response;
      resolve(response);
    });
    request.on('error', (error) => {
      // What breaks after the answer began is the body's failure; a body that is all there is not harmed.
      if (answer === undefined) fail(error);
      else if (!answer.complete) answer.destroy(error);
    });
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      fail(protocolFailure('Server switched protocols without being asked', host));
    });
    request.on('close', () => {
      stop.removeEventListener('abort', onStop);
      if (answer === undefined) fail(protocolFailure('Connection closed without an answer', host));
    });
    request.end(hop.body ?? undefined);
  });
}

function openRequest({ method, target, headers, body }: Hop, pinned: PinnedRequestOptions): ClientRequest {
  const { url, host, port } = target;
  const isName = !isAddress(host);
  const options: PinnedRequestOptions = {
    ...pinned,
    method,
    host: isName ? host : host.replace(/^\[|\]$/g, ''),
    port,
    path: url.pathname + url.search,
    servername: isName ? host : '',
    setHost: false,
    headers: {
      host: url.host,
      'user-agent': 'tool-runtime',
      accept: '*/*',
      // Bytes as they are; a server that compresses all the same is decoded within the byte limit.
      'accept-encoding': 'identity',
      ...Object.fromEntries(headers),
      ...(body === null ? {} : { 'content-length': body.byteLength }),
    },
    maxHeaderSize: MAX_ANSWER_HEADER_BYTES,
    insecureHTTPParser: false,
  };
  return url.protocol === 'https:' ? httpsRequest(options) : httpRequest(options);
}

type HttpFailureReason = 'dns' | 'refused' | 'unreachable' | 'tls' | 'reset' | 'protocol';

const MESSAGES: Readonly<Record<HttpFailureReason, string>> = {
  dns: 'Host name could not be resolved',
  refused: 'Connection refused',
  unreachable: 'Host could not be reached',
  tls: 'TLS failed',
  reset: 'Connection broke before the answer was complete',
  protocol: 'Answer is not valid HTTP',
};

const CODES: readonly (readonly [RegExp, HttpFailureReason])[] = [
  [/^(?:ENOTFOUND|ENODATA|EAI_)/, 'dns'],
  [/^ECONNREFUSED$/, 'refused'],
  [/^(?:EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL|ETIMEDOUT|EACCES|EPERM)$/, 'unreachable'],
  [/^(?:ECONNRESET|ECONNABORTED|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/, 'reset'],
  [/^(?:HPE_|Z_|ERR__|ERR_HTTP|ERR_ZLIB|ERR_BROTLI|ERR_ZSTD|ZSTD_)/, 'protocol'],
  [/^(?:ERR_TLS|ERR_SSL|EPROTO|CERT_|CRL_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|INVALID_)/, 'tls'],
];

/**
 * Failures of an HTTP exchange in the runtime's words. URLs stay out of them: paths and queries may hold secrets.
 *
 * A ToolError (a refusal, a deadline) passes through as it is.
 */
export function httpFailure(thrown: unknown, host: string): ToolError {
  if (isToolError(thrown)) return thrown;
  const code = codeOf(thrown);
  const reason = CODES.find(([pattern]) => pattern.test(code))?.[1];
  if (reason === undefined)
    return new ToolError('E_HTTP', `Request failed: ${host}`, { ...details(host, 'other', code), cause: thrown });
  return new ToolError('E_HTTP', `${MESSAGES[reason]}: ${host}`, { ...details(host, reason, code), cause: thrown });
}

function protocolFailure(what: string, host: string): ToolError {
  return new ToolError('E_HTTP', `${what}: ${host}`, details(host, 'protocol', ''));
}

function details(host: string, reason: string, code: string) {
  return { path: 'url', details: { reason, host, ...(code === '' ? {} : { code }) } };
}

/** Several addresses that all failed come as one error that holds the others. */
function codeOf(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return '';
  if ('code' in thrown && typeof thrown.code === 'string') return thrown.code;
  return thrown instanceof AggregateError ? codeOf(thrown.errors[0]) : '';
}

interface ReadBody {
  readonly bytes: Uint8Array;
  readonly truncated: boolean;
  /** A compression of the server's was undone. */
  readonly decoded: boolean;
}

interface BodyLimits {
  /** Of the request: an answer to HEAD has no body. */
  readonly method: string;
  readonly maxBytes: number;
  readonly host: string;
}

const BROKEN_OFF = { code: 'ECONNRESET' };
const DECODERS = new Map<string, () => Transform & { readonly bytesWritten: number }>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/**
 * Reads a body up to a limit counted after decoding, and hangs up at the limit: a compressed bomb costs one chunk more
 * than the limit, whatever it would unpack to.
 *
 * Bodies under several compressions, or an unknown one, come back as they are. Throws E_HTTP.
 */
export async function readBody(response: IncomingMessage, { method, maxBytes, host }: BodyLimits): Promise<ReadBody> {
  // A connection can break before anyone listens to its body; then no event will come any more.
  if (response.destroyed) throw httpFailure(response.errored ?? BROKEN_OFF, host);
  const coding = (response.headers['content-encoding'] ?? '').trim().toLowerCase();
  const decoder = hasBody(response, method) ? DECODERS.get(coding)?.() : undefined;
  const source = decoder === undefined ? response : pipeline(response, decoder, () => {});
  try {
    return { ...(await collect(source, maxBytes)), decoded: decoder !== undefined };
  } catch (thrown) {
    if (decoder?.bytesWritten === 0 && response.complete)
      return { bytes: new Uint8Array(), truncated: false, decoded: true };
    throw httpFailure(thrown, host);
  }
}

/** Answers without a body may still name the compression the body would have had. */
function hasBody({ statusCode, headers }: IncomingMessage, method: string): boolean {
  return method !== 'HEAD' && statusCode !== 204 && statusCode !== 304 && headers['content-length'] !== '0';
}

function collect(source: Readable, maxBytes: number): Promise<{ bytes: Uint8Array; truncated: boolean }> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    source.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= maxBytes) return;
      resolve({ bytes: Buffer.concat(chunks, maxBytes), truncated: true });
      source.destroy();
    });
    source.on('end', () => resolve({ bytes: Buffer.concat(chunks, size), truncated: false }));
    source.on('error', reject);
    source.on('close', () => reject(BROKEN_OFF));
  });
}
