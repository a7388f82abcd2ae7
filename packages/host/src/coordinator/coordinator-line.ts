/**
 * The wire to a coordinator: JSON out, JSON in, both bounded; redirects are not followed, so the token goes nowhere else.
 *
 * Connections are kept alive by the runtime's own pool. Every failure is E_HTTP without the text of what came: an answer
 * may hold anything.
 */
import { isToolError, scanJson, ToolError } from '@tool-runtime/protocol';

export const MAX_ANSWER_BYTES = 64 * 1024;
const DEFAULT_TIMEOUT_MS = 60_000;

export interface CoordinatorLineOptions {
  /** `http:` or `https:`; the questions are POSTed to `{url}/plan` and so on. */
  readonly url: string;
  /** Sent as bearer token. */
  readonly token?: string;
  /** The registry's limit of an answer is usually shorter; this one also holds for reports. Default: a minute. */
  readonly timeoutMs?: number;
  /** In place of the platform's own. */
  readonly fetch?: typeof globalThis.fetch;
}

export interface CoordinatorLine {
  /** The parsed answer; undefined for an empty one. */
  post(name: string, text: string, signal?: AbortSignal): Promise<unknown>;
}

/** Throws TypeError for an address that cannot be used. */
export function openCoordinatorLine(options: CoordinatorLineOptions): CoordinatorLine {
  const { token, timeoutMs = DEFAULT_TIMEOUT_MS, fetch = globalThis.fetch } = options;
  const base = checkedBase(options);
  if (!(timeoutMs > 0)) throw new TypeError('Time limit of the coordinator must be positive');
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  return {
    async post(name, text, signal) {
      const limit = AbortSignal.timeout(timeoutMs);
      try {
        const response = await fetch(`${base}/${name}`, {
          method: 'POST',
          headers,
          body: text,
          redirect: 'error',
          signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
        });
        return await readAnswer(response, name);
      } catch (thrown) {
        if (isToolError(thrown)) throw thrown;
        throw new ToolError('E_HTTP', `Coordinator could not be reached: ${name}`, { cause: thrown });
      }
    },
  };
}

function checkedBase({ url, token }: CoordinatorLineOptions): string {
  if (!URL.canParse(url)) throw new TypeError('Address of the coordinator is not a URL');
  const parsed = new URL(url);
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    throw new TypeError('Address of the coordinator must begin with https:// or http://');
  }
  if (parsed.username !== '' || parsed.password !== '' || parsed.search !== '' || parsed.hash !== '') {
    throw new TypeError('Address of the coordinator must not hold credentials, a query or a fragment');
  }
  if (token !== undefined && parsed.protocol === 'http:' && !isLoopback(parsed.hostname)) {
    throw new TypeError('Token of the coordinator would travel in the clear: use https://');
  }
  return `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}`;
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

async function readAnswer(response: Response, name: string): Promise<unknown> {
  if (!response.ok) {
    await response.body?.cancel();
    throw new ToolError('E_HTTP', `Coordinator answered with status ${response.status}: ${name}`, {
      details: { status: response.status },
    });
  }
  const text = await readBounded(response, name);
  if (text === '') return undefined;
  scanJson(text, { maxBytes: MAX_ANSWER_BYTES });
  return JSON.parse(text);
}

/** Leaving the loop early cancels the rest. What is counted is unpacked: a small body cannot become a large one. */
async function readBounded({ body }: Response, name: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body ?? []) {
    size += piece.byteLength;
    if (size > MAX_ANSWER_BYTES) {
      throw new ToolError('E_HTTP', `Coordinator answered with more than ${MAX_ANSWER_BYTES} bytes: ${name}`);
    }
    pieces.push(piece);
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces));
}
