/** A running command as the streams vscode-jsonrpc reads and writes: no Node stream in between, output guarded first. */
import type { RunningCommand } from '@tool-runtime/sdk';
import {
  Disposable,
  Emitter,
  type MessageReader,
  type MessageWriter,
  type RAL,
  ReadableStreamMessageReader,
  WriteableStreamMessageWriter,
} from 'vscode-jsonrpc/node';
import { malformedFrame } from './server-errors.ts';

export const MAX_HEADER_BYTES = 8 * 1024;
export const MAX_BODY_BYTES = 64 * 1024 * 1024;

const HEADER_END = '\r\n\r\n';
/** What a header may look like so far: whole lines, then perhaps the beginning of one. */
const BEGINNING = /^(?:[A-Za-z][A-Za-z-]*:[^\r\n]*\r\n)*(?:[A-Za-z][A-Za-z-]*(?::[^\r\n]*\r?)?|\r)?$/;
const LENGTH_LINE = /^content-length:[ \t]*(\d{1,15})[ \t]*$/i;

/**
 * Watches a server's output before the message reader sees it: every frame within limits, every header well formed.
 *
 * The reader itself buffers any length a header announces and skips over bytes it does not understand; a server
 * that prints a banner on its standard output would silently desynchronise it. Only the current header is kept here.
 */
export class FrameGuard {
  #header = '';
  #bodyLeft = 0;

  /** Answers how many headers ended here. Throws E_INTERNAL with reason `malformed_frame` where no frame can go on. */
  accept(chunk: Uint8Array): number {
    let frames = 0;
    let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    while (rest.length > 0) {
      const skipped = Math.min(this.#bodyLeft, rest.length);
      this.#bodyLeft -= skipped;
      rest = rest.subarray(skipped);
      if (rest.length === 0) break;
      rest = this.#readHeader(rest);
      if (this.#header === '') frames += 1;
    }
    return frames;
  }

  /** Answers what follows the header, or nothing when the header goes on in the next chunk. */
  #readHeader(bytes: Buffer): Buffer {
    const room = MAX_HEADER_BYTES - this.#header.length;
    const seen = this.#header + bytes.subarray(0, room).toString('latin1');
    const end = seen.indexOf(HEADER_END);
    if (end >= 0) {
      const used = end + HEADER_END.length - this.#header.length;
      this.#bodyLeft = bodyLength(seen.slice(0, end));
      this.#header = '';
      return bytes.subarray(used);
    }
    if (seen.length >= MAX_HEADER_BYTES) throw malformedFrame(`header is longer than ${MAX_HEADER_BYTES} bytes`);
    if (!BEGINNING.test(seen)) throw malformedFrame('output is no message header');
    this.#header = seen;
    return bytes.subarray(bytes.length);
  }
}

function bodyLength(header: string): number {
  if (!BEGINNING.test(`${header}\r\n`)) throw malformedFrame('output is no message header');
  const lines = header.split('\r\n').filter((line) => /^content-length:/i.test(line));
  const digits = LENGTH_LINE.exec(lines[0] ?? '')?.[1];
  if (lines.length !== 1 || digits === undefined) throw malformedFrame('header names no content length');
  const length = Number(digits);
  if (length > MAX_BODY_BYTES) throw malformedFrame(`message is longer than ${MAX_BODY_BYTES} bytes`);
  return length;
}

const NEVER = () => Disposable.create(() => {});

/** Output pushed by the command runner. It may begin before anyone listens: earlier output is kept. */
export class ServerOutput implements RAL.ReadableStream {
  readonly #guard = new FrameGuard();
  readonly #backlog: MessageBacklog;
  readonly #data = new Emitter<Uint8Array>();
  readonly #closed = new Emitter<void>();
  #early: Uint8Array[] | undefined = [];

  constructor(backlog: MessageBacklog) {
    this.#backlog = backlog;
  }

  readonly onError = NEVER;
  readonly onEnd = NEVER;
  readonly onClose: RAL.ReadableStream['onClose'] = (listener) => this.#closed.event(listener);

  readonly onData: RAL.ReadableStream['onData'] = (listener) => {
    const listening = this.#data.event(listener);
    for (const chunk of this.#early ?? []) this.#data.fire(chunk);
    this.#early = undefined;
    return listening;
  };

  /** Throws when the bytes are no frame, or too many; the reader then never sees them. */
  push(chunk: Uint8Array): void {
    this.#backlog.arrive(chunk.byteLength, this.#guard.accept(chunk));
    // The runner may reuse its buffer.
    const kept = Buffer.from(chunk);
    if (this.#early === undefined) this.#data.fire(kept);
    else this.#early.push(kept);
  }

  close(): void {
    this.#closed.fire();
  }
}

export function createReader(output: ServerOutput): MessageReader {
  const reader = new ReadableStreamMessageReader(output);
  // Its only effect would be a timer that keeps the process alive while a message is incomplete.
  reader.partialMessageTimeout = 0;
  return reader;
}

export function createWriter(command: Pick<RunningCommand, 'write' | 'endInput'>): MessageWriter {
  return new WriteableStreamMessageWriter({
    onClose: NEVER,
    onError: NEVER,
    onEnd: NEVER,
    write: (data: Uint8Array | string) => command.write(typeof data === 'string' ? Buffer.from(data, 'utf8') : data),
    end: () => command.endInput(),
  });
}

export const MAX_BACKLOG_BYTES = 256 * 1024 * 1024;
export const MAX_BACKLOG_MESSAGES = 50_000;

/**
 * How much a server said that was not looked at yet.
 *
 * The connection takes one message per turn of the event loop while a pipe may bring thousands: a server that floods us
 * would fill our memory, and there is no way to make it wait.
 */
export class MessageBacklog {
  #messages = 0;
  /** Since nothing was waiting. */
  #bytes = 0;

  /** Throws E_INTERNAL with reason `malformed_frame` when it is too much. */
  arrive(bytes: number, messages: number): void {
    this.#bytes += bytes;
    this.#messages += messages;
    if (this.#bytes > MAX_BACKLOG_BYTES) throw malformedFrame(`more than ${MAX_BACKLOG_BYTES} bytes wait to be read`);
    if (this.#messages > MAX_BACKLOG_MESSAGES) throw malformedFrame(`more than ${MAX_BACKLOG_MESSAGES} messages wait`);
  }

  handled(): void {
    this.#messages -= 1;
    if (this.#messages === 0) this.#bytes = 0;
  }
}
