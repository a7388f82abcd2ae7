/** Sends requests that came to this host to the holder of another workspace, and streams the answers back. */
import type { IncomingMessage } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { isToolError } from '@tool-runtime/protocol';
import { sleep } from '../wire/sleep.ts';
import type { Dialer } from './dial.ts';
import { askThrough } from './tunnel-fetch.ts';

export interface Vouched {
  readonly workspace: string;
  /** Of the principal that this host has let in. */
  readonly name: string;
}

export interface Forwarder {
  /** Rejects with `no_host` when no host holds the workspace; undefined when this one holds it by now. */
  forward(request: Request, to: Vouched): Promise<Response | undefined>;
}

/** A workspace that goes from one host to another has no holder for a moment. */
const HANDOVER_MS = 3000;
const LOOK_MS = 100;

/** Credentials stay here: this host has checked them. The others are about one connection. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...['authorization', 'cookie', 'host', 'origin', 'connection', 'keep-alive', 'upgrade', 'expect'],
  ...['content-length', 'transfer-encoding', 'te', 'trailer'],
]);

export function createForwarder(dialer: Dialer, isHere: (workspace: string) => boolean): Forwarder {
  return {
    async forward(request, { workspace, name }) {
      const { pathname, search } = new URL(request.url);
      const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer());
      const { method, headers, signal } = request;
      const asked = { method, path: pathname + search, headers: headersOf(headers.entries()), body, signal };
      const until = performance.now() + HANDOVER_MS;
      for (;;) {
        try {
          return responseOf(await askThrough(dialer.openFor(workspace, name), asked));
        } catch (thrown) {
          const isAbsent = isToolError(thrown) && thrown.details['reason'] === 'no_host';
          if (!isAbsent || performance.now() > until || signal.aborted) throw thrown;
        }
        await sleep(LOOK_MS, signal);
        if (isHere(workspace)) return undefined;
      }
    },
  };
}

function headersOf(entries: Iterable<readonly [string, string]>): Record<string, string> {
  return Object.fromEntries([...entries].filter(([name]) => !OWN_HEADERS.has(name.toLowerCase())));
}

function responseOf(answer: IncomingMessage): Response {
  const status = answer.statusCode ?? 502;
  const headers = headersOf(
    Object.entries(answer.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
  const isEmpty = status === 204 || status === 304;
  if (isEmpty) answer.resume();
  return new Response(isEmpty ? null : streamOf(answer), { status, headers });
}

/** A stream of events that is cut off simply ends, and its client comes back; any other answer that is cut off fails. */
function streamOf(answer: IncomingMessage): ReadableStream<Uint8Array> {
  if (answer.headers['content-type']?.startsWith('text/event-stream') !== true) return Readable.toWeb(answer);
  const events = new PassThrough();
  answer.on('error', () => events.end());
  answer.pipe(events);
  events.once('close', () => answer.destroy());
  return Readable.toWeb(events);
}
