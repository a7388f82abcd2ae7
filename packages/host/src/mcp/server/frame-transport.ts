/**
 * The codec of MCP on stdio: one JSON message per line, as a transport of the MCP library, which owns the protocol.
 *
 * Answers given in one turn of the event loop leave in one write. While the client does not read its answers, nothing
 * more is read from it. Plain calls may have a shorter way than other messages, and never overtake one. A client that closes
 * its side after the last request, such as a shell with a file as input, gets the answers that come soon.
 */
import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { LineSplitter } from '../../transports/line-splitter.ts';
import { LineWriter, LONG_CHARACTERS } from '../../transports/line-writer.ts';
import { readFrame } from './read-frame.ts';

/** How many bytes may wait for the client before reading from it stops. */
const MAX_UNREAD_BYTES = 1024 * 1024;
/** The limit of the library's own transport. */
const MAX_LINE_BYTES = 10 * 1024 * 1024;
/** Clients close a server by closing its input, and end it when it does not end soon. */
const LAST_ANSWERS_MS = 1000;
const REFUSED = { too_large: 'Message is longer than 10 MiB', invalid_utf8: 'Message is not UTF-8' } as const;

export class FrameTransport implements Transport {
  onmessage?: NonNullable<Transport['onmessage']>;
  /** Asked first, and takes the message or leaves it to `onmessage`. */
  onplaincall?: (message: unknown, answers: Pick<Transport, 'send'>) => boolean;
  onclose?: () => void;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #writer: LineWriter;
  readonly #ended = Promise.withResolvers<void>();
  /** Resolves when the other side is gone, or has all it asked for. */
  readonly ended: Promise<void> = this.#ended.promise;
  readonly #splitter = new LineSplitter(MAX_LINE_BYTES);
  #frames: string[] = [];
  /** How many writes wait for the client to read. */
  #holds = 0;
  #isOpen = false;
  /** Ids of requests that have no answer yet. */
  readonly #asked = new Set<unknown>();
  #isLast = false;
  #lastAnswers: NodeJS.Timeout | undefined;
  /** The library works through messages in turns of its own; until the next turn of the event loop it may have some left. */
  #isBehind = false;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
    this.#writer = new LineWriter(output, () => this.#end());
  }

  async start(): Promise<void> {
    this.#isOpen = true;
    this.#input.on('data', this.#read);
    this.#input.on('error', this.#end);
    this.#input.on('end', this.#finish);
    this.#input.on('close', this.#finish);
    if (this.#input.readableEnded || this.#input.destroyed) setImmediate(this.#finish);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#write(JSON.stringify(message));
    const { method, id } = message as { readonly method?: unknown; readonly id?: unknown };
    if (method !== undefined) return;
    this.#asked.delete(id);
    if (this.#isLast && this.#asked.size === 0) setImmediate(this.#end);
  }

  /** Resolves when everything has been written. Leaves both streams open. */
  async close(): Promise<void> {
    this.#end();
    this.#input.off('data', this.#read);
    this.#input.pause();
    this.#flush();
    await this.#writer.flush();
    this.#writer.release();
  }

  #write(frame: string): void {
    if (this.#frames.push(frame) === 1) process.nextTick(this.#flush);
  }

  readonly #read = (chunk: Buffer): void => {
    for (const line of this.#splitter.push(chunk)) {
      if (line.ok) this.#receive(line.text);
      else this.#write(JSON.stringify({ jsonrpc: '2.0', error: { code: -32_700, message: REFUSED[line.reason] } }));
    }
  };

  /** Text that is not JSON is ignored, as the library does: programs print things. */
  #receive(text: string): void {
    const frame = readFrame(text, MAX_LINE_BYTES);
    if (frame.ok) this.#handOver(frame.message);
    else if (frame.refusal !== undefined) this.#write(frame.refusal);
  }

  #handOver(message: unknown): void {
    this.#note(message as Readonly<Partial<Record<'id' | 'method' | 'params', unknown>>> | null);
    if (!this.#isBehind && this.onplaincall?.(message, this) === true) return;
    if (!this.#isBehind) setImmediate(this.#caughtUp);
    this.#isBehind = true;
    // The library checks the shape of every message it is given.
    this.onmessage?.(message as JSONRPCMessage);
  }

  #note(message: Readonly<Partial<Record<'id' | 'method' | 'params', unknown>>> | null): void {
    if (typeof message?.method !== 'string') return;
    if (message.id !== undefined) this.#asked.add(message.id);
    else if (message.method === 'notifications/cancelled') this.#asked.delete(cancelledId(message.params));
  }

  readonly #caughtUp = (): void => {
    this.#isBehind = false;
  };

  readonly #flush = (): void => {
    if (this.#frames.length === 0) return;
    const frames = this.#frames;
    this.#frames = [];
    if (frames.every(({ length }) => length < LONG_CHARACTERS)) this.#writer.write(frames.join('\n'));
    else for (const frame of frames) this.#writer.write(frame);
    const ready = this.#output.writableLength > MAX_UNREAD_BYTES ? this.#writer.ready() : undefined;
    if (ready !== undefined) void this.#hold(ready);
  };

  async #hold(ready: Promise<void>): Promise<void> {
    this.#holds += 1;
    this.#input.pause();
    await ready;
    this.#holds -= 1;
    if (this.#holds === 0 && this.#isOpen) this.#input.resume();
  }

  /** Nothing more is asked. What cannot be written is not waited for. */
  readonly #finish = (): void => {
    if (!this.#isOpen || this.#isLast) return;
    this.#isLast = true;
    if (!this.#input.readableEnded || this.#asked.size === 0 || !this.#output.writable) this.#end();
    else this.#lastAnswers = setTimeout(this.#end, LAST_ANSWERS_MS);
  };

  readonly #end = (): void => {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearTimeout(this.#lastAnswers);
    this.#ended.resolve();
    this.onclose?.();
  };
}

function cancelledId(params: unknown): unknown {
  return (params as { readonly requestId?: unknown } | null | undefined)?.requestId;
}
