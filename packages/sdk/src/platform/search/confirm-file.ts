/**
 * Whether lines that a search program reported really are in the file of that name inside the root.
 *
 * The program walks by name, so a folder may be swapped for a link to the outside under it. Here the file is opened by
 * descriptor and each line is read again; what is not found there is dropped.
 */
import { closeSync, constants, fstatSync, readSync } from 'node:fs';
import type { RelativePath } from '../descriptors/path-rules.ts';
import type { Root } from '../descriptors/root.ts';
import { errnoCode } from '../errno-error.ts';
import type { Pace } from '../pace.ts';
import { type LineView, PartialLine } from './line-view.ts';
import type { FoundFile, FoundLine } from './search-output.ts';

const CHUNK_BYTES = 256 * 1024;
/** UTF-16 is read as a whole. */
const MAX_UTF16_BYTES = 64 * 1024 * 1024;
const NEWLINE = 0x0a;
/** Reading a chunk, in the pace's units. */
const CHUNK_UNITS = 256;

export interface Confirmation {
  readonly root: Root;
  readonly pace: Pace;
  readonly maxLength: number;
}

/** Handles one file at a time: they are read into the same buffer. */
export function createConfirmer(confirmation: Confirmation): (file: FoundFile) => Promise<FoundFile> {
  const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  return async (file) => {
    const fd = openFound(confirmation.root, file.path);
    if (fd === undefined) return { ...file, lines: [], matchCount: 0 };
    try {
      const check = new LineCheck(file.lines, confirmation.maxLength);
      const lines = await confirmedLines({ fd, chunk }, check, confirmation.pace);
      return { ...file, lines, matchCount: lines.filter(({ byteColumn }) => byteColumn > 0).length };
    } finally {
      closeSync(fd);
    }
  };
}

/** Undefined when the name leads to no regular file inside the root. */
function openFound(root: Root, path: string): number | undefined {
  let fd: number;
  try {
    fd = root.openBeneath(path as RelativePath, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return undefined;
  }
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  return undefined;
}

async function confirmedLines(
  { fd, chunk }: { readonly fd: number; readonly chunk: Buffer },
  check: LineCheck,
  pace: Pace,
): Promise<FoundLine[]> {
  let position = 0;
  for (;;) {
    const bytes = chunk.subarray(0, readSync(fd, chunk, 0, CHUNK_BYTES, position));
    if (position === 0) {
      const encoding = utf16Encoding(bytes);
      if (encoding !== undefined) return confirmedInText(readWhole(fd), encoding, check);
    }
    check.add(position === 0 ? withoutByteOrderMark(bytes) : bytes);
    position += bytes.length;
    if (pace.isDue(CHUNK_UNITS)) await pace.pause();
    if (bytes.length < CHUNK_BYTES || check.isDone) return check.end();
  }
}

function confirmedInText(bytes: Buffer, encoding: string, check: LineCheck): FoundLine[] {
  check.add(Buffer.from(new TextDecoder(encoding).decode(bytes), 'utf8'));
  return check.end();
}

function readWhole(fd: number): Buffer {
  const { size } = fstatSync(fd);
  if (size > MAX_UTF16_BYTES) return Buffer.alloc(0);
  const bytes = Buffer.allocUnsafe(size);
  return bytes.subarray(0, readSync(fd, bytes, 0, size, 0));
}

function utf16Encoding(bytes: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : undefined;
}

function withoutByteOrderMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** Compares expected lines, in ascending order, with a file's bytes as they come. */
class LineCheck {
  readonly #expected: readonly FoundLine[];
  readonly #maxLength: number;
  readonly #confirmed: FoundLine[] = [];
  #next = 0;
  #number = 1;
  #partial: PartialLine | undefined;

  constructor(expected: readonly FoundLine[], maxLength: number) {
    this.#expected = expected;
    this.#maxLength = maxLength;
  }

  get isDone(): boolean {
    return this.#next === this.#expected.length;
  }

  add(bytes: Buffer): void {
    for (let at = 0; at < bytes.length && !this.isDone; ) {
      const newline = bytes.indexOf(NEWLINE, at);
      const end = newline < 0 ? bytes.length : newline;
      if (this.#expected[this.#next]?.number === this.#number) this.#take(bytes.subarray(at, end));
      if (newline >= 0) this.#endLine();
      at = end + 1;
    }
  }

  end(): FoundLine[] {
    this.#endLine();
    return this.#confirmed;
  }

  #take(bytes: Buffer): void {
    const byteColumn = this.#expected[this.#next]?.byteColumn ?? 0;
    this.#partial ??= new PartialLine({ byteColumn, maxLength: this.#maxLength });
    this.#partial.add(bytes);
  }

  #endLine(): void {
    const expected = this.#expected[this.#next];
    if (expected !== undefined && this.#partial !== undefined) {
      if (isSame(expected, this.#partial.view())) this.#confirmed.push(expected);
      this.#next += 1;
    }
    this.#partial = undefined;
    this.#number += 1;
  }
}

function isSame(expected: FoundLine, { text, column, cut }: LineView): boolean {
  return expected.text === text && expected.column === column && expected.cut === cut;
}
