/**
 * Reads what `git diff --raw --numstat --patch -z` prints in one go: the list of changes, the counts, and after an empty
 * field the patch, byte for byte.
 */
import { changeKind } from './parse-raw-diff.ts';

const NUL = 0;

export interface DiffFile {
  readonly path: string;
  readonly from?: string;
  readonly status: ReturnType<typeof changeKind> | 'unmerged';
  readonly additions: number;
  readonly deletions: number;
  readonly binary: boolean;
}

export interface ParsedDiff {
  readonly files: readonly DiffFile[];
  /** Undefined when the output ended before it. */
  readonly patch: Buffer | undefined;
}

interface Counts {
  readonly additions: number;
  readonly deletions: number;
  readonly binary: boolean;
}

const NO_COUNTS: Counts = { additions: 0, deletions: 0, binary: false };

export function parseDiff(output: Buffer): ParsedDiff {
  const listed: Pick<DiffFile, 'path' | 'from' | 'status'>[] = [];
  const counted = new Map<string, Counts>();
  const fields = new Fields(output);
  for (let field = fields.next(); field !== undefined && field !== ''; field = fields.next()) {
    if (field.startsWith(':')) listed.push(listedFile(field, fields));
    else countFile(field, fields, counted);
  }
  const files = listed.map((file) => ({ ...file, ...(counted.get(file.path) ?? NO_COUNTS) }));
  return { files, patch: fields.isAtPatch ? fields.rest() : undefined };
}

function listedFile(field: string, fields: Fields): Pick<DiffFile, 'path' | 'from' | 'status'> {
  const letter = field.slice(field.lastIndexOf(' ') + 1).charAt(0);
  const status = letter === 'U' ? 'unmerged' : changeKind(letter);
  const first = fields.next() ?? '';
  return status === 'renamed' || status === 'copied'
    ? { path: fields.next() ?? '', from: first, status }
    : { path: first, status };
}

/** `added TAB deleted TAB path`, or nothing as the path and two fields after it for a renamed file. */
function countFile(field: string, fields: Fields, counted: Map<string, Counts>): void {
  const found = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(field);
  if (found === null) return;
  const [, added = '', deleted = '', name = ''] = found;
  if (name === '') fields.next();
  const path = name === '' ? (fields.next() ?? '') : name;
  const binary = added === '-';
  counted.set(path, { additions: binary ? 0 : Number(added), deletions: binary ? 0 : Number(deleted), binary });
}

class Fields {
  readonly #output: Buffer;
  #at = 0;
  isAtPatch = false;

  constructor(output: Buffer) {
    this.#output = output;
  }

  next(): string | undefined {
    const end = this.#output.indexOf(NUL, this.#at);
    if (end < 0) return undefined;
    const field = this.#output.toString('utf8', this.#at, end);
    this.#at = end + 1;
    if (field === '') this.isAtPatch = true;
    return field;
  }

  rest(): Buffer {
    return this.#output.subarray(this.#at);
  }
}
