/**
 * Watches a server's output before the message reader sees it: every frame within limits, every header well formed.
 *
 * The reader itself buffers any length a header announces and skips over bytes it does not understand; a server
 * that prints a banner on its standard output would silently desynchronise it. Only the current header is kept here.
 */
import { malformedFrame } from './server-errors.ts';

export const MAX_HEADER_BYTES = 8 * 1024;
export const MAX_BODY_BYTES = 64 * 1024 * 1024;

const HEADER_END = '\r\n\r\n';
/** What a header may look like so far: whole lines, then perhaps the beginning of one. */
const BEGINNING = /^(?:[A-Za-z][A-Za-z-]*:[^\r\n]*\r\n)*(?:[A-Za-z][A-Za-z-]*(?::[^\r\n]*\r?)?|\r)?$/;
const LENGTH_LINE = /^content-length:[ \t]*(\d{1,15})[ \t]*$/i;

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
