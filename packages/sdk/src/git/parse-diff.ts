/**
 * Reads what `git diff --raw --numstat --patch -z` prints in one go: the list of changes, the counts, and after an
 * empty field the patch, byte for byte.
 */
import type { AddedLine, ChangedFile, ChangeKind } from '../contracts/git.ts';

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

const KINDS: Readonly<Record<string, ChangeKind>> = {
  A: 'added',
  M: 'modified',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
  T: 'type_changed',
  U: 'modified',
};

const HUNK = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, '\\': 92 };

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

/**
 * Reads `git diff-tree -r -z --raw` and its relatives: which paths changed, into which objects. `R100` and its like
 * too.
 */
function changeKind(status: string): ChangeKind {
  return KINDS[status.charAt(0)] ?? 'modified';
}

const NO_OBJECT = /^0+$/;

export function parseRawDiff(output: string): readonly ChangedFile[] {
  const fields = output.split('\0');
  const files: ChangedFile[] = [];
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at] ?? '';
    if (!field.startsWith(':')) continue;
    const [, mode = '', , blob = '', status = ''] = field.slice(1).split(' ');
    const kind = changeKind(status);
    const first = fields[++at] ?? '';
    const moved = kind === 'renamed' || kind === 'copied';
    const path = moved ? (fields[++at] ?? '') : first;
    const hasBlob = kind !== 'deleted' && !NO_OBJECT.test(blob);
    files.push({ path, ...(moved ? { from: first } : {}), kind, mode, blob: hasBlob ? blob : undefined });
  }
  return files;
}

/**
 * Reads a diff made with `-U0 --src-prefix=a/ --dst-prefix=b/` into the lines it adds.
 *
 * Counted by the hunk headers, so that an added line that looks like a header stays a line.
 */
export function parseAddedLines(diff: string): readonly AddedLine[] {
  const added: AddedLine[] = [];
  const lines = diff.split('\n');
  let path = '';
  for (let at = 0; at < lines.length; at++) {
    const text = lines[at] ?? '';
    if (text.startsWith('+++ ')) path = newName(text.slice(4));
    const hunk = HUNK.exec(text);
    if (hunk === null) continue;
    let toRemove = Number(hunk[1] ?? 1);
    let toAdd = Number(hunk[3] ?? 1);
    let line = Number(hunk[2]);
    while ((toRemove > 0 || toAdd > 0) && at + 1 < lines.length) {
      const body = lines[++at] ?? '';
      if (body.startsWith('-')) toRemove--;
      else if (body.startsWith('+')) {
        toAdd--;
        added.push({ path, line: line++, text: body.slice(1).replace(/\r$/, '') });
      }
    }
  }
  return added;
}

/** `b/name`; a tab ends a name with spaces. */
function newName(written: string): string {
  return unquoteName(written.replace(/\t$/, '')).replace(/^b\//, '');
}

/** A file name as git writes it in patches and blame: plain, or in quotes with C escapes when it has odd bytes. */
export function unquoteName(written: string): string {
  const inside = /^"(.*)"$/s.exec(written)?.[1];
  if (inside === undefined) return written;
  const bytes: Buffer[] = [];
  for (const [, octal, letter, plain] of inside.matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gs)) {
    if (octal !== undefined) bytes.push(Buffer.from([Number.parseInt(octal, 8)]));
    else if (letter !== undefined) bytes.push(Buffer.from([ESCAPES[letter] ?? letter.charCodeAt(0)]));
    else bytes.push(Buffer.from(plain ?? ''));
  }
  return Buffer.concat(bytes).toString('utf8');
}
