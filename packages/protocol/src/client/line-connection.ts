/**
 * Envelopes as lines of JSON over any pair of streams: the stdio of a child process, a Unix socket.
 *
 * Node's streams fit as they are. Half a line at the end belongs to a message that was cut off, and is dropped.
 */
import type { ClientMessage } from '../envelopes/client-message.ts';
import { parseServerMessage } from '../envelopes/parse-envelope.ts';
import type { ServerMessage } from '../envelopes/server-message.ts';
import type { Connection } from './connection.ts';
import { connectionClosed } from './error-messages.ts';
import { MessageQueue } from './message-queue.ts';
import { MAX_MESSAGE_BYTES, readServerMessage, unreadable } from './read-server-message.ts';

export interface LineWriter {
  /** May give a promise of room for more, or `false` when `drain` will tell. */
  write(text: string): unknown;
  end?(): unknown;
  on?(event: 'drain' | 'error' | 'close', listener: (error?: unknown) => void): unknown;
}

export interface LineConnectionOptions {
  readonly readable: AsyncIterable<Uint8Array | string>;
  readonly writable: LineWriter;
  readonly maxLineBytes?: number;
}

export function lineConnection(options: LineConnectionOptions): Connection {
  return new LineConnection(options);
}

class LineConnection implements Connection {
  readonly #writable: LineWriter;
  readonly #maxBytes: number;
  readonly #messages = new MessageQueue<ServerMessage>();
  #room: PromiseWithResolvers<void> | undefined;

  constructor({ readable, writable, maxLineBytes = MAX_MESSAGE_BYTES }: LineConnectionOptions) {
    this.#writable = writable;
    this.#maxBytes = maxLineBytes;
    writable.on?.('drain', () => this.#giveRoom());
    // Without a listener Node would end the whole program over a broken pipe.
    writable.on?.('error', (error) => this.#end(connectionClosed(error)));
    writable.on?.('close', () => this.#room?.reject(connectionClosed()));
    void this.#readAll(readable);
  }

  messages(): AsyncIterable<ServerMessage> {
    return this.#messages;
  }

  async send(message: ClientMessage): Promise<void> {
    if (this.#messages.isEnded) throw connectionClosed();
    const written = this.#writable.write(`${JSON.stringify(message)}\n`);
    if (written !== false) await written;
    else if (this.#writable.on !== undefined) {
      this.#room ??= Promise.withResolvers();
      await this.#room.promise;
    }
  }

  close(): void {
    this.#end(undefined);
    this.#writable.end?.();
  }

  async #readAll(readable: AsyncIterable<Uint8Array | string>): Promise<void> {
    try {
      for await (const line of splitLines(readable, this.#maxBytes)) {
        if (this.#messages.isEnded) return;
        this.#receive(line);
      }
      this.#end(undefined);
    } catch (thrown) {
      this.#end(connectionClosed(thrown));
    }
  }

  #receive(line: Line): void {
    if (!line.isWhole) {
      const parsed = 'text' in line ? parseServerMessage(line.text, { maxBytes: this.#maxBytes }) : undefined;
      if (parsed?.ok) this.#messages.push(parsed.message);
    } else if ('fault' in line) this.#messages.push(unreadable(line.fault));
    else if (line.text.trim() !== '') this.#messages.push(readServerMessage(line.text, this.#maxBytes));
  }

  #giveRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  #end(error: unknown): void {
    this.#messages.end(error);
    this.#room?.reject(error ?? connectionClosed());
    this.#room = undefined;
  }
}

/**
 * Bytes to lines of text. A line is held as bytes until it is whole, so a character cut in two by a chunk survives, and
 * a line over the limit is let go as it comes instead of being kept.
 */
export type Line =
  | { readonly text: string; readonly isWhole: boolean }
  | { readonly fault: 'too_large' | 'invalid_utf8'; readonly isWhole: boolean };

const NEWLINE = 0x0a;

/** The last line is not whole when the input ends without a newline. */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array | string>,
  maxBytes: number,
): AsyncGenerator<Line, void> {
  const encoder = new TextEncoder();
  const line = new HeldLine(maxBytes);
  for await (const chunk of chunks) {
    const bytes = typeof chunk === 'string' ? encoder.encode(chunk) : chunk;
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      line.add(bytes.subarray(start, end));
      yield line.take({ isWhole: true });
      start = end + 1;
    }
    line.add(bytes.subarray(start));
  }
  yield line.take({ isWhole: false });
}

class HeldLine {
  readonly #maxBytes: number;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #parts: Uint8Array[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(bytes: Uint8Array): void {
    this.#length += bytes.length;
    if (this.#length > this.#maxBytes) this.#parts = [];
    else if (bytes.length > 0) this.#parts.push(bytes);
  }

  take({ isWhole }: { readonly isWhole: boolean }): Line {
    const isTooLarge = this.#length > this.#maxBytes;
    const bytes = joined(this.#parts);
    this.#parts = [];
    this.#length = 0;
    if (isTooLarge) return { fault: 'too_large', isWhole };
    try {
      return { text: this.#decoder.decode(bytes), isWhole };
    } catch {
      // May stop here: the fault is told instead of the line.
      return { fault: 'invalid_utf8', isWhole };
    }
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [first = new Uint8Array(0)] = parts;
  if (parts.length <= 1) return first;
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    all.set(part, offset);
    offset += part.length;
  }
  return all;
}
