/**
 * Patches in the form `*** Begin Patch`: files to add, update, move and delete, each with hunks that have no numbers.
 *
 * `@@ text` names a line above the hunk, such as its function. Nothing is passed over, and the patch must end with
 * `*** End Patch`: without it the last part may be missing.
 */
import { safeText } from '@tool-runtime/protocol/internal';
import { ADDED, CONTEXT, DiffReader, invalidDiff, REMOVED, UNMARKED } from './diff-reader.ts';
import { LineTable } from './line-table.ts';
import { contentOf } from './shift-indent.ts';
import type { FilePatch, Hunk } from './unified-diff.ts';

export interface PatchSection {
  readonly operation: 'add' | 'update' | 'delete';
  readonly path: string;
  /** The new name of an updated file. */
  readonly moveTo: string | undefined;
  /** Without hunks for a deletion, which takes the whole file. */
  readonly patch: FilePatch;
}

const BEGIN = '*** Begin Patch';
const END = '*** End Patch';
const SECTION = /^\*\*\* (Add|Update|Delete) File: ?(.*?)\s*$/;
const MOVE = /^\*\*\* Move to: ?(.*?)\s*$/;
const END_OF_FILE = '*** End of File';

export function isBeginPatch(text: string): boolean {
  return /^(?:\s*```[^\n]*\n)?\s*\*\*\* (?:Begin Patch|Add File:|Update File:|Delete File:)/.test(text);
}

/** Throws E_VALIDATION_FAIL for what is no such patch. */
export function parseBeginPatch(input: Buffer): readonly PatchSection[] {
  const isEnded = input.length > 0 && input[input.length - 1] === 10;
  const reader = new DiffReader(isEnded ? input : Buffer.concat([input, Buffer.from('\n')]));
  while (!reader.atEnd && (reader.isBlank || reader.startsWith('```'))) reader.skipLine();
  if (!reader.startsWith(BEGIN))
    throw wrong(reader, `Patch must begin with ${BEGIN}`, `Write ${BEGIN} above the files`);
  reader.skipLine();
  const sections: PatchSection[] = [];
  while (!reader.startsWith(END)) {
    if (reader.atEnd) {
      throw wrong(reader, `Patch does not end with ${END}`, `Send all of it, with ${END} as its last line`, 'diff_cut');
    }
    if (reader.isBlank) reader.skipLine();
    else sections.push(readSection(reader));
  }
  const names = sections.flatMap(({ path, moveTo }) => (moveTo === undefined ? [path] : [path, moveTo]));
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) {
    throw wrong(reader, `Patch names a file twice: ${safeText(twice)}`, 'Put all hunks of a file into one section');
  }
  return sections;
}

function readSection(reader: DiffReader): PatchSection {
  const [, operation, name = ''] = SECTION.exec(reader.text()) ?? [];
  const path = Buffer.from(name, 'latin1').toString('utf8');
  if (operation === undefined || path === '') {
    const next = 'Write *** Add File: name, *** Update File: name or *** Delete File: name above the lines of a file';
    throw wrong(reader, 'Line of the patch belongs to no file', next);
  }
  reader.skipLine();
  if (operation === 'Delete') return { operation: 'delete', path, moveTo: undefined, patch: patchOf(reader, [], {}) };
  if (operation === 'Add') return { operation: 'add', path, moveTo: undefined, patch: readAdded(reader) };
  const [, newName] = MOVE.exec(reader.text()) ?? [];
  if (newName !== undefined) reader.skipLine();
  const moveTo = newName === undefined ? undefined : Buffer.from(newName, 'latin1').toString('utf8');
  if (moveTo === '') throw wrong(reader, 'New name is missing', 'Write *** Move to: name');
  const patch = readUpdated(reader);
  if (patch.hunks.length === 0 && moveTo === undefined) {
    throw wrong(reader, `File has no hunk: ${safeText(path)}`, 'Give the lines to change, marked with space, + and -');
  }
  return { operation: 'update', path, moveTo, patch };
}

function patchOf(
  { bytes }: DiffReader,
  hunks: readonly Hunk[],
  { isCreation = false, lines = new LineTable(bytes) },
): FilePatch {
  const facts = { oldName: undefined, newName: undefined, newMode: undefined, isDeletion: false };
  return { ...facts, isCreation, hunks, lines, hasCarriageReturn: bytes.includes(13) };
}

function readAdded(reader: DiffReader): FilePatch {
  const lines = new LineTable(reader.bytes);
  while (!isPastLines(reader)) {
    if (reader.mark !== ADDED) {
      if (reader.isBlank && isPastBlanks(reader)) break;
      throw wrong(reader, 'Line of an added file has no +', 'Begin every line of the new file with +');
    }
    lines.push(ADDED, reader.position + 1, reader.lineEnd);
    reader.skipLine();
  }
  const hunk = { number: 1, oldStart: 0, oldCount: 0, firstRow: 0, endRow: lines.length, added: lines.length };
  const hunks = lines.length === 0 ? [] : [{ ...hunk, removed: 0, isCarriaged: false, isOpenEnded: false }];
  return patchOf(reader, hunks, { isCreation: true, lines });
}

function readUpdated(reader: DiffReader): FilePatch {
  const lines = new LineTable(reader.bytes);
  const hunks: Hunk[] = [];
  while (!isPastLines(reader) && !(reader.isBlank && isPastBlanks(reader))) {
    let anchor: string | undefined;
    while (reader.startsWith('@@')) {
      anchor = anchorIn(reader);
      reader.skipLine();
    }
    const firstRow = lines.length;
    readLines(reader, lines);
    if (lines.length === firstRow) throw wrong(reader, 'Hunk has no lines', 'Give every hunk its lines');
    const isLast = reader.startsWith(END_OF_FILE);
    if (isLast) reader.skipLine();
    hunks.push({
      number: hunks.length + 1,
      oldStart: undefined,
      oldCount: undefined,
      firstRow,
      endRow: lines.length,
      ...counts(lines, firstRow),
      isCarriaged: false,
      isOpenEnded: false,
      ...(anchor === undefined ? {} : { anchor }),
      ...(isLast ? { isLast: true as const } : {}),
    });
  }
  return patchOf(reader, hunks, { lines });
}

/** The text after `@@`; one in the style of a unified diff may have numbers, which count for nothing. */
function anchorIn(reader: DiffReader): string | undefined {
  const text = Buffer.from(reader.text(), 'latin1').toString('utf8');
  const named = contentOf(text.replace(/^@@(?: -\d+(?:,\d+)? \+\d+(?:,\d+)? @@)?/, '').replace(/ @@\s*$/, ''));
  return named === '' || named === '@@' ? undefined : named;
}

function readLines(reader: DiffReader, lines: LineTable): void {
  while (!isPastLines(reader) && !reader.startsWith('@@')) {
    if (reader.isBlank && (isPastBlanks(reader) || isBeforeHunk(reader))) {
      skipBlanks(reader);
      return;
    }
    const { mark, position, lineEnd, isBlank } = reader;
    if (mark === UNMARKED || (mark !== CONTEXT && mark !== ADDED && mark !== REMOVED)) {
      throw wrong(reader, 'Line of the patch has no mark', 'Begin every line of a hunk with a space, + or -');
    }
    lines.push(mark, isBlank ? position : position + 1, lineEnd);
    reader.skipLine();
  }
}

/** `***` begins what is no line of a hunk: those have a mark. */
function isPastLines(reader: DiffReader): boolean {
  return reader.atEnd || reader.startsWith('***');
}

/** Only blank lines are left before the next `***`: space around, not context. */
function isPastBlanks(reader: DiffReader): boolean {
  return isPastLines(afterBlanks(reader));
}

function isBeforeHunk(reader: DiffReader): boolean {
  return afterBlanks(reader).startsWith('@@');
}

function skipBlanks(reader: DiffReader): void {
  while (!reader.atEnd && reader.isBlank) reader.skipLine();
}

function afterBlanks({ bytes, position }: DiffReader): DiffReader {
  const next = new DiffReader(bytes);
  next.position = position;
  skipBlanks(next);
  return next;
}

function counts(lines: LineTable, firstRow: number): Pick<Hunk, 'added' | 'removed'> {
  let [added, removed] = [0, 0];
  for (let row = firstRow; row < lines.length; row++) {
    if (lines.mark(row) === ADDED) added++;
    if (lines.mark(row) === REMOVED) removed++;
  }
  return { added, removed };
}

function wrong({ lineNumber }: DiffReader, message: string, next: string, reason = 'diff'): Error {
  return invalidDiff(`${message}: line ${lineNumber}`, {
    reason,
    line: lineNumber,
    next: `${next}; nothing was changed`,
  });
}
