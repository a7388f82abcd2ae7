/**
 * Messages as lines on two streams. What is answered in one turn of the loop leaves in one write, and while the other
 * side does not read its answers nothing more is read from it.
 */
import type { Readable, Writable } from 'node:stream';
import { LineSplitter } from '../../../transports/line-splitter.ts';
import { LineWriter } from '../../../transports/line-writer.ts';
import { readFrame } from '../read-frame.ts';

/** What may wait to be read by the other side before reading from it stops. */
const MAX_UNREAD_BYTES = 1024 * 1024;
/** The SDK's own limit. */
const MAX_LINE_BYTES = 10 * 1024 * 1024;
const REFUSED = { too_large: 'Message is longer than 10 MiB', invalid_utf8: 'Message is not UTF-8' } as const;

export interface FrameStreamOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** One message, still to be judged: any JSON value. */
  receive(message: unknown): void;
  /** The other side is gone. */
  end(): void;
}

export class FrameStream {
  readonly #input: Readable;
  readonly #writer: LineWriter;
  readonly #splitter = new LineSplitter(MAX_LINE_BYTES);
  readonly #options: FrameStreamOptions;
  #frames: string[] = [];
  #holds = 0;
  #isOpen = false;

  constructor(options: FrameStreamOptions) {
    this.#options = options;
    this.#input = options.input;
    this.#writer = new LineWriter(options.output, () => this.#end());
  }

  open(): void {
    this.#isOpen = true;
    this.#input.on('data', this.#read);
    this.#input.on('error', this.#end);
    this.#input.on('end', this.#end);
    this.#input.on('close', this.#end);
    if (this.#input.readableEnded || this.#input.destroyed) setImmediate(this.#end);
  }

  write(frame: string): void {
    if (this.#frames.push(frame) === 1) process.nextTick(this.#flush);
  }

  /** Nothing is read until what is held back has been let go as often. */
  hold(): void {
    this.#holds += 1;
    this.#input.pause();
  }

  letGo(): void {
    this.#holds -= 1;
    if (this.#holds === 0 && this.#isOpen) this.#input.resume();
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    this.#input.off('data', this.#read);
    this.#input.pause();
    this.#flush();
    await this.#writer.flush();
    this.#writer.release();
  }

  readonly #read = (chunk: Buffer): void => {
    for (const line of this.#splitter.push(chunk)) {
      if (line.ok) this.#receive(line.text);
      else this.write(JSON.stringify({ jsonrpc: '2.0', error: { code: -32_700, message: REFUSED[line.reason] } }));
    }
  };

  #receive(text: string): void {
    const frame = readFrame(text, MAX_LINE_BYTES);
    if (frame.ok) this.#options.receive(frame.message);
    // Programs print things. What is not JSON is passed over, as the SDK does.
    else if (frame.refusal !== undefined) this.write(frame.refusal);
  }

  readonly #flush = (): void => {
    if (this.#frames.length === 0) return;
    const frames = this.#frames;
    this.#frames = [];
    this.#writer.write(frames.length === 1 && frames[0] !== undefined ? frames[0] : frames.join('\n'));
    const ready = this.#options.output.writableLength > MAX_UNREAD_BYTES ? this.#writer.ready() : undefined;
    if (ready === undefined) return;
    this.hold();
    void ready.then(() => this.letGo());
  };

  readonly #end = (): void => {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#options.end();
  };
}
