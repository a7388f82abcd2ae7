/**
 * MCP on two streams. Openings, lists and plain calls are answered here; everything else, and whatever is unusual about
 * those, goes to the SDK. Both sides share the backend, so it makes no difference to the caller.
 *
 * Nothing is loaded before it is needed: not the runtime for an opening, not the SDK for a plain call.
 */
import type { Readable, Writable } from 'node:stream';
import type { ClientIdentity, McpBackend } from '../mcp-backend.ts';
import { Family } from './family.ts';
import { FrameStream } from './frame-stream.ts';
import { answerOpening } from './opening.ts';
import { type PlainMessage, type RequestId, readPlainMessage } from './plain-message.ts';
import type { QuickSide } from './quick-side.ts';
import type { SdkSide } from './sdk-side.ts';

export interface ConnectionOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly serverVersion: string;
  /** Asked for once. */
  readonly backend: () => Promise<McpBackend>;
}

export interface McpConnection {
  /** Rejects when something that was needed could not be loaded; never resolves. */
  readonly failure: Promise<never>;
  /** Cancels what runs and lets go of the streams. */
  close(): Promise<void>;
}

export function serveConnection(options: ConnectionOptions): McpConnection {
  return new Connection(options);
}

class Connection implements McpConnection {
  readonly failure: Promise<never>;
  readonly #fail: (thrown: unknown) => void;
  readonly #serverVersion: string;
  readonly #stream: FrameStream;
  readonly #family = new Family();
  /** What was answered here and the SDK has to know. */
  readonly #opening: PlainMessage[] = [];
  readonly #quickSide: Lazy<QuickSide>;
  readonly #sdkSide: Lazy<SdkSide>;
  #client: ClientIdentity | undefined;
  /** Messages that wait while something is being loaded; undefined when nothing is. */
  #waiting: unknown[] | undefined;
  #isClosed = false;

  constructor({ input, output, serverVersion, backend }: ConnectionOptions) {
    const failure = Promise.withResolvers<never>();
    this.failure = failure.promise;
    this.#fail = failure.reject;
    this.#serverVersion = serverVersion;
    const end = (): void => this.#quickSide.loaded?.calls.cancelAll();
    this.#stream = new FrameStream({ input, output, receive: (message) => this.#receive(message), end });
    const write = (frame: string): void => this.#stream.write(frame);
    const opened = new Lazy(backend);
    this.#quickSide = new Lazy(async () => {
      const [{ startQuickSide }, shared] = await Promise.all([import('./quick-side.ts'), opened.load()]);
      return startQuickSide({ backend: shared, write, handOver: (message) => this.#handOverLate(message) });
    });
    this.#sdkSide = new Lazy(async () => {
      const [{ startSdkSide }, shared] = await Promise.all([import('./sdk-side.ts'), opened.load()]);
      const begun = (id: RequestId) => this.#quickSide.loaded?.calls.begun(id);
      return startSdkSide({
        backend: shared,
        write,
        opening: this.#opening,
        connected: (client) => this.#family.connect(client),
        begun,
      });
    });
    this.#stream.open();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#quickSide.loaded?.calls.cancelAll();
    await this.#sdkSide.loaded?.close();
    await this.#stream.close();
  }

  #receive(message: unknown): void {
    if (this.#waiting !== undefined) {
      this.#waiting.push(message);
      return;
    }
    const plain = readPlainMessage(message);
    if (plain === undefined || !(this.#answerOpening(plain) || this.#answerQuickly(plain))) {
      this.#handOver(message, plain);
    }
  }

  /** Only as long as the SDK knows nothing: from then on it has to hear everything. */
  #answerOpening(message: PlainMessage): boolean {
    if (this.#sdkSide.isWanted || this.#family.isSettled) return false;
    if (this.#client !== undefined) return this.#confirmOpening(message, this.#client);
    const opened = answerOpening(message, this.#serverVersion);
    if (opened === undefined) return false;
    if (opened.client !== undefined) this.#opening.push(message);
    this.#client = opened.client;
    this.#stream.write(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: opened.result }));
    return true;
  }

  #confirmOpening(message: PlainMessage, client: ClientIdentity): boolean {
    const { method, id, params } = message;
    if (method !== 'notifications/initialized' || id !== undefined || params !== undefined) return false;
    this.#opening.push(message);
    this.#family.connect(client);
    return true;
  }

  #answerQuickly(message: PlainMessage): boolean {
    if (message.method === 'notifications/cancelled') return this.#cancel(message);
    if (message.method !== 'tools/call' && message.method !== 'tools/list') return false;
    const caller = this.#family.callerOf(message);
    if (caller === undefined) return false;
    const side = this.#quickSide.loaded;
    if (side !== undefined) return side.take(message, caller);
    this.#loadFor(message, this.#quickSide);
    return true;
  }

  #cancel({ id, params }: PlainMessage): boolean {
    const requestId = params?.['requestId'] as RequestId | undefined;
    return id === undefined && requestId !== undefined && this.#quickSide.loaded?.calls.cancel(requestId) === true;
  }

  #handOver(message: unknown, plain: PlainMessage | undefined): void {
    const side = this.#sdkSide.loaded;
    if (side === undefined) {
      this.#loadFor(message, this.#sdkSide);
      return;
    }
    this.#family.handOver(plain);
    side.receive(message);
  }

  /** Nothing is read meanwhile, and what has been read keeps its order. */
  #loadFor(message: unknown, side: Lazy<unknown>): void {
    const waiting = [message];
    this.#waiting = waiting;
    this.#stream.hold();
    side.load().then(() => {
      this.#waiting = undefined;
      this.#stream.letGo();
      if (!this.#isClosed) for (const one of waiting) this.#receive(one);
    }, this.#fail);
  }

  /** A message that was taken already and must not be taken for a new one. */
  #handOverLate(message: PlainMessage): void {
    this.#sdkSide.load().then((side) => {
      if (!this.#isClosed) side.receive(message);
    }, this.#fail);
  }
}

/** Loaded once, on demand. */
class Lazy<Value> {
  loaded: Value | undefined;
  readonly #open: () => Promise<Value>;
  #loading: Promise<Value> | undefined;

  constructor(open: () => Promise<Value>) {
    this.#open = open;
  }

  get isWanted(): boolean {
    return this.#loading !== undefined;
  }

  load(): Promise<Value> {
    this.#loading ??= this.#open().then((value) => {
      this.loaded = value;
      return value;
    });
    return this.#loading;
  }
}
