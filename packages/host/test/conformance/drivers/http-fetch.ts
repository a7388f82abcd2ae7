/** HTTP over TCP by fetch. */
import { TOKENS } from '../../open-host.ts';
import { openHostStage } from '../host-stage.ts';
import { connectByRequests, type HttpRequest, type HttpWire } from '../request-client.ts';
import type { Transport } from '../transport.ts';
import { HTTP_TRAITS } from './http-traits.ts';

export async function httpFetch(): Promise<Transport> {
  const hostStage = await openHostStage();
  return {
    traits: HTTP_TRAITS,
    traffic: hostStage.traffic,
    stage: hostStage.stage,
    lastEventId: hostStage.lastEventId,
    close: hostStage.close,
    connect: (options = {}) =>
      connectByRequests(hostStage, { ...options, token: TOKENS.operator }, createWire(hostStage.host.url)),
  };
}

function createWire(url: string): HttpWire {
  const dropping = new AbortController();
  const open = (request: HttpRequest, signal: AbortSignal): Promise<Response> =>
    fetch(url + request.path, {
      method: request.method,
      headers: {
        ...request.headers,
        ...(request.token === undefined ? {} : { authorization: `Bearer ${request.token}` }),
      },
      ...(request.body === undefined ? {} : { body: Buffer.from(request.body) }),
      signal,
    });
  return {
    async ask(request) {
      const answer = await open(request, dropping.signal);
      return { status: answer.status, text: await answer.text() };
    },
    async follow(request, onText) {
      const stopping = new AbortController();
      const answer = await open(request, AbortSignal.any([dropping.signal, stopping.signal]));
      void readAll(answer, onText);
      return { status: answer.status, stop: () => stopping.abort() };
    },
    drop: () => dropping.abort(),
  };
}

async function readAll({ body }: Response, onText: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  try {
    for await (const chunk of body ?? []) onText(decoder.decode(chunk, { stream: true }));
  } catch {
    // Aborted, or the host ended the stream: either way no more comes.
  }
}
