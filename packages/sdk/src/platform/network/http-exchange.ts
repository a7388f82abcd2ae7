/** One request to pinned addresses, up to the head of its answer. Redirects and bodies are others' business. */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { toToolError } from '@tool-runtime/protocol';
import { isAddress } from '../../egress/domain-entry.ts';
import type { Hop } from '../../egress/follow-redirect.ts';
import { httpFailure, protocolFailure } from './http-failure.ts';
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
