/**
 * A stream of bytes between a client and the holder of a workspace, carried by messages.
 *
 * The bus delivers each message at most once and never slows a sender down, so the tunnel counts: a missing message ends it,
 * and a sender stops at a window that the reader has not taken yet. The reader enforces all of this, because the other side
 * may not be ours. What runs in it is HTTP and WebSocket, as on any other socket; a tunnel that ends is a connection that
 * dropped.
 */
import { Duplex } from 'node:stream';
import { ToolError } from '@tool-runtime/protocol';

export const KIND = { open: 1, data: 2, ack: 3, end: 4, reset: 5, ping: 6, pong: 7, busy: 8 } as const;
export type Kind = (typeof KIND)[keyof typeof KIND];

const HEAD_BYTES = 5;
const CHUNK_BYTES = 256 * 1024;
const WINDOW_BYTES = 2 * 1024 * 1024;
const ACK_BYTES = WINDOW_BYTES / 4;
/** What a message costs in the window apart from its bytes, so that many small ones take no more memory than large ones. */
const MESSAGE_COST = 256;
const PATIENCE_MS = 30_000;
const RETRY_MS = 1000;

export interface TunnelOptions {
  /** Sends one message to the other side. */
  send(bytes: Uint8Array): void;
  /** Called once, when the tunnel has ended for either side. */
  onEnd(): void;
  /** How long a full window may stay full. */
  readonly patienceMs?: number;
}

/** Looks like a socket to servers and clients of HTTP. */
export class Tunnel extends Duplex {
  readonly remoteAddress = 'fleet';
  readonly encrypted = false;
  readonly #options: TunnelOptions;
  readonly #arrived: Buffer[] = [];
  #sent = 0;
  #received = 0;
  #unacked = 0;
  /** Arrived and not read yet. */
  #held = 0;
  #taken = 0;
  #isWanted = false;
  #isEnded = false;
  #onRoom: (() => void) | undefined;
  #patience: NodeJS.Timeout | undefined;
  /** When the other side was last heard, by the monotonic clock. */
  heardAt = performance.now();
  /** Probes since then: a process that was asleep itself has not missed any answer. */
  unanswered = 0;

  constructor(options: TunnelOptions) {
    super({ allowHalfOpen: true });
    this.#options = options;
    // The end of a tunnel is told by `close`; an error without a listener would end the process.
    this.on('error', () => {});
  }

  /** The first message of a client, with what it says about itself; data may follow at once. */
  open(about?: Uint8Array): void {
    this.#send(KIND.open, about);
  }

  /** Says how much was sent, so that the other side finds out what was lost when nothing follows it, and asks for the same. */
  ping(): void {
    this.unanswered += 1;
    this.#control(KIND.ping, this.#sent);
  }

  receive(bytes: Uint8Array): void {
    const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.heardAt = performance.now();
    this.unanswered = 0;
    if (message.length < HEAD_BYTES) {
      this.destroy(lost('malformed'));
      return;
    }
    const kind = message.readUInt8(0);
    if (kind === KIND.reset) this.destroy(lost('reset'));
    else if (kind === KIND.busy) this.destroy(busy());
    else if (kind === KIND.ack) this.#acknowledged(message.readUInt32BE(1));
    else if (kind === KIND.ping || kind === KIND.pong) this.#probed(kind, message.readUInt32BE(1));
    else this.#ordered(kind, message);
  }

  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  get bytesWritten(): number {
    return this.#sent;
  }

  override _read(): void {
    this.#isWanted = true;
    this.#deliver();
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const part = chunk.subarray(0, CHUNK_BYTES);
    if (part.length > 0) {
      this.#unacked += costOf(part);
      this.#send(KIND.data, part);
    }
    const next = (): void => {
      if (part.length === chunk.length) done();
      else this._write(chunk.subarray(part.length), encoding, done);
    };
    if (this.#unacked < WINDOW_BYTES) next();
    else this.#waitForRoom(next);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#send(KIND.end);
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.#isEnded) this.#control(KIND.reset);
    this.#isEnded = true;
    clearTimeout(this.#patience);
    this.#options.onEnd();
    done(error);
  }

  #probed(kind: number, sent: number): void {
    if (sent !== this.#received) this.destroy(lost('gap'));
    else if (kind === KIND.ping) this.#control(KIND.pong, this.#sent);
  }

  #ordered(kind: number, message: Buffer): void {
    if (message.readUInt32BE(1) !== this.#received) {
      this.destroy(lost('gap'));
      return;
    }
    this.#received = (this.#received + 1) >>> 0;
    if (kind === KIND.data) {
      const payload = message.subarray(HEAD_BYTES);
      this.#held += costOf(payload);
      this.#arrived.push(payload);
    }
    if (kind === KIND.end) this.#isEnded = true;
    this.#deliver();
    if (this.#held > WINDOW_BYTES + CHUNK_BYTES + MESSAGE_COST) this.destroy(lost('window'));
  }

  #deliver(): void {
    while (this.#isWanted) {
      const next = this.#arrived.shift();
      if (next === undefined) break;
      this.#held -= costOf(next);
      this.#taken += costOf(next);
      this.#isWanted = this.push(next);
    }
    if (this.#taken >= ACK_BYTES) {
      this.#control(KIND.ack, this.#taken);
      this.#taken = 0;
    }
    if (this.#isEnded && this.#arrived.length === 0) this.push(null);
  }

  /** A reader that takes nothing for so long is cut off; what waits for it would stay in memory otherwise. */
  #waitForRoom(done: () => void): void {
    this.#onRoom = done;
    this.#patience = setTimeout(() => this.destroy(lost('slow')), this.#options.patienceMs ?? PATIENCE_MS);
  }

  #acknowledged(bytes: number): void {
    if (bytes > this.#unacked) {
      this.destroy(lost('window'));
      return;
    }
    this.#unacked -= bytes;
    this.#patience?.refresh();
    const wake = this.#onRoom;
    if (wake === undefined || this.#unacked >= WINDOW_BYTES) return;
    this.#onRoom = undefined;
    clearTimeout(this.#patience);
    this.#patience = undefined;
    wake();
  }

  #send(kind: Kind, payload?: Uint8Array): void {
    this.#transmit(kind, this.#sent, payload);
    this.#sent = (this.#sent + 1) >>> 0;
  }

  #control(kind: Kind, value = 0): void {
    this.#transmit(kind, value);
  }

  #transmit(kind: Kind, value: number, payload?: Uint8Array): void {
    const message = Buffer.allocUnsafe(HEAD_BYTES + (payload?.length ?? 0));
    message.writeUInt8(kind, 0);
    message.writeUInt32BE(value, 1);
    if (payload !== undefined) message.set(payload, HEAD_BYTES);
    this.#options.send(message);
  }
}

function costOf(payload: Uint8Array): number {
  return payload.length + MESSAGE_COST;
}

/** A message that tells the other side that there is no such tunnel here. */
export function resetMessage(): Uint8Array {
  return Uint8Array.of(KIND.reset, 0, 0, 0, 0);
}

/** A message that tells the other side that there are as many tunnels as this host takes. */
export function busyMessage(): Uint8Array {
  return Uint8Array.of(KIND.busy, 0, 0, 0, 0);
}

/** What the client said about itself in its first message. */
export function aboutOf(opening: Uint8Array): Uint8Array {
  return opening.subarray(HEAD_BYTES);
}

export function isOpening(bytes: Uint8Array): boolean {
  return bytes[0] === KIND.open && bytes.length >= HEAD_BYTES;
}

function busy(): ToolError {
  return new ToolError('E_POLICY', 'The host of this workspace has as many connections as it takes', {
    details: {
      gate: 'fleet',
      reason: 'busy',
      retry: 'retryable',
      retry_after_ms: RETRY_MS,
      next: 'try again after that time; limits.connections of the fleet file is the limit',
    },
  });
}

export function lost(because: string): ToolError {
  return new ToolError('E_HTTP', 'The host of this workspace is gone', {
    details: { reason: 'host_lost', because, retry: 'retryable', next: 'the client connects again by itself' },
  });
}

export function noHost(workspace: string): ToolError {
  return new ToolError('E_HTTP', `No host holds this workspace: ${workspace}`, {
    details: {
      reason: 'no_host',
      retry: 'retryable',
      workspace,
      next: 'start a host that serves it, or wait for one: waitMs, or --wait of tool-runtime fleet call',
    },
  });
}
