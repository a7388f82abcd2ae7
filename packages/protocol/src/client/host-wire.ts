/**
 * One HTTP request to a host and its answer, with the token in its header and nowhere else.
 *
 * A throw means that no answer came, and leaves open what the host did. A refusal is an answer.
 */
import { type ErrorMessage, errorMessageSchema } from '../envelopes/from-host/error-message.ts';
import { ToolError } from '../primitives/errors.ts';

export interface HostWireOptions {
  /** Of the host, such as `http://127.0.0.1:7400`. */
  readonly url: string;
  /** Not needed where the host knows its peer otherwise, as on a Unix socket. */
  readonly token?: string;
  readonly fetch?: FetchLike;
}

export interface WireRequest {
  readonly body?: object;
  readonly accept?: string;
  readonly signal?: AbortSignal;
}

export interface WireAnswer {
  readonly status: number;
  readonly text: string;
  readonly retryAfterMs: number | undefined;
}

/**
 * The part of `fetch` the client uses, so that any implementation fits: a browser's, Node's, one over a Unix socket.
 */
export interface FetchInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal?: AbortSignal;
  readonly redirect: 'error';
  readonly cache: 'no-store';
}

export interface FetchAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: { getReader(): ByteReader } | null;
  text(): Promise<string>;
}

export interface ByteReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<unknown>;
}

export type FetchLike = (url: string, init: FetchInit) => Promise<FetchAnswer>;

export class HostWire {
  readonly #address: string;
  readonly #token: string | undefined;
  readonly #fetch: FetchLike;

  constructor({ url, token, fetch }: HostWireOptions) {
    this.#address = hostAddress(url, 'http');
    this.#token = token;
    // Called as a free function: a browser's fetch refuses to be a method of anything else.
    this.#fetch = fetch ?? ((address, init) => globalThis.fetch(address, init));
  }

  /** Resolves with the head of the answer; the body is the caller's to read. */
  async open(method: string, path: string, request: WireRequest = {}): Promise<FetchAnswer> {
    const fetchNow = this.#fetch;
    try {
      return await fetchNow(this.#address + path, this.#init(method, request));
    } catch (thrown) {
      throw noAnswer(this.#address, thrown);
    }
  }

  async ask(method: string, path: string, request: WireRequest = {}): Promise<WireAnswer> {
    const answer = await this.open(method, path, request);
    try {
      return { status: answer.status, text: await answer.text(), retryAfterMs: retryAfter(answer) };
    } catch (thrown) {
      throw noAnswer(this.#address, thrown);
    }
  }

  #init(method: string, { body, accept = 'application/json', signal }: WireRequest): FetchInit {
    return {
      method,
      // A redirect would carry calls, and with some fetches the token, to an address that was not given.
      redirect: 'error',
      cache: 'no-store',
      headers: {
        accept,
        ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    };
  }
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** The host's own refusal, with the status it came with. Throws when the answer is not from a host at all. */
export function readRefusal({ status, text, retryAfterMs }: WireAnswer): ErrorMessage {
  const parsed = errorMessageSchema.safeParse(parseJson(text));
  if (!parsed.success) throw badAnswer(status);
  const { details = {} } = parsed.data;
  const wait = details['retry_after_ms'] ?? retryAfterMs;
  return { ...parsed.data, details: { ...details, status, ...(wait === undefined ? {} : { retry_after_ms: wait }) } };
}

export function badAnswer(status: number): ToolError {
  return new ToolError('E_HTTP', `Answer is not that of a host: status ${status}`, {
    details: { reason: 'bad_answer', status, next: 'check the address, and any proxy between here and the host' },
  });
}

/** Undefined for invalid JSON, which the schema then refuses. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // May stop here: every reader checks the value with a schema that refuses undefined.
    return undefined;
  }
}

function noAnswer(address: string, cause: unknown): ToolError {
  return new ToolError('E_HTTP', `Host gave no answer: ${address}`, {
    details: { reason: 'no_answer', next: 'check that the host runs; what was sent may have been done' },
    cause,
  });
}

function retryAfter({ headers }: FetchAnswer): number | undefined {
  const seconds = headers.get('retry-after');
  return seconds !== null && /^\d{1,6}$/.test(seconds) ? Number(seconds) * 1000 : undefined;
}

/**
 * Where the routes of a host begin, without a slash at the end. Takes the address of the host in either scheme, with a
 * path before the routes (as a proxy may need), and also the address of its WebSocket.
 */
export function hostAddress(url: string, scheme: 'http' | 'ws'): string {
  const { protocol, username, password, host, pathname } = new URL(url);
  if (username !== '' || password !== '') throw new TypeError('url must not hold credentials');
  if (!/^(?:http|ws)s?:$/.test(protocol)) throw new TypeError('url must be of http, https, ws or wss');
  const path = pathname.replace(/(?:\/v1\/ws)?\/?$/, '');
  const isSecure = protocol === 'https:' || protocol === 'wss:';
  return `${scheme}${isSecure ? 's' : ''}://${host}${path}`;
}
