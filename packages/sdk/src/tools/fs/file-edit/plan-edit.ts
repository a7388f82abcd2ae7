/** What the edits make of one file, worked out before anything is written. */
import { isToolError, type JsonObject, ToolError } from '@tool-runtime/protocol';
import type { ToolContext } from '../../../contracts/tool.ts';
import type { FileContent } from '../../../contracts/workspace.ts';
import { changedMeanwhile } from '../../../platform/files/snapshot-entry.ts';
import { findPlaces, type MatchLevel, type Place } from '../../../text/edit-ladder.ts';
import { decodeText, detectEncoding, type TextEncoding } from '../../../text/encoding.ts';
import { changeDiff, lineFeeds } from '../../../text/line-diff.ts';
import { changedText, encodeChange, joinChanges, smallestChange, type TextChange } from '../../../text/text-change.ts';
import { checkInexact } from '../inexact.ts';
import { readExisting } from '../read-existing.ts';
import type { PlannedFile } from '../write-all.ts';
import { refusePlaceholder, refuseShrinking } from './check-edit.ts';
import { ambiguous, lineAt, notFound } from './explain-miss.ts';

const MAX_FILE_BYTES = 64 * 1024 * 1024;

export interface TextEdit {
  readonly old: string;
  readonly new: string;
  readonly all?: boolean | undefined;
  readonly near_line?: number | undefined;
}

export interface FileEdits {
  readonly path: string;
  readonly edits: readonly TextEdit[];
  /** All of them must be the version that is there. */
  readonly expected: ReadonlySet<string>;
}

export interface EditOptions {
  readonly exact?: boolean | undefined;
  readonly allow_shrink?: boolean | undefined;
}

export interface PlacedEdit {
  line: number;
  end_line: number;
  match: MatchLevel;
  places: number;
}

export interface EditedFile {
  readonly path: string;
  readonly placed: PlacedEdit[];
  readonly diff: string;
  readonly bytes: number;
  /** Null for a new file. */
  readonly before: string | null;
  readonly isChanged: boolean;
  readonly plan: PlannedFile & { readonly after: Uint8Array };
}

export async function planEdit(file: FileEdits, options: EditOptions, context: ToolContext): Promise<EditedFile> {
  const { path } = file;
  const current = await readCurrent(file, context);
  if (current === undefined) return planNew(file);
  const { text, encoding } = decode(current, path);
  const { change, placed } = explaining(context, () => applyEdits(text, file, options));
  if (options.allow_shrink !== true) refuseShrinking(change, path);
  checkInexact(placed, 'edit', path, context);
  return planned(path, { bytes: encoded(current.bytes, change, encoding, path), placed, change, current });
}

interface Made {
  readonly bytes: Buffer;
  readonly placed: PlacedEdit[];
  readonly change: TextChange;
  readonly current: FileContent | undefined;
}

function planned(path: string, { bytes, placed, change, current }: Made): EditedFile {
  const smallest = smallestChange(change);
  return {
    path,
    placed,
    diff: changeDiff(smallest),
    bytes: bytes.length,
    before: current?.sha256 ?? null,
    isChanged: current === undefined || smallest.end > smallest.start || smallest.text !== '',
    plan: { path, before: current, after: bytes },
  };
}

function planNew({ path, edits }: FileEdits): EditedFile {
  const [only, ...others] = edits;
  if (only === undefined || only.old !== '' || others.length > 0) {
    throw new ToolError('E_FILE_IO', `File not found: ${path}`, {
      path,
      details: { reason: 'ENOENT', next: 'Check the spelling; to create the file, give one edit with an empty old' },
    });
  }
  const placed: PlacedEdit[] = [{ line: 1, end_line: 1, match: 'exact', places: 1 }];
  const change = { before: '', start: 0, end: 0, text: only.new };
  return planned(path, { bytes: Buffer.from(only.new, 'utf8'), placed, change, current: undefined });
}

async function readCurrent({ path, expected: versions }: FileEdits, context: ToolContext) {
  const current = await readExisting(path, context, MAX_FILE_BYTES);
  if (current?.truncated) {
    throw new ToolError('E_FILE_IO', `File is too large to edit: ${path}`, {
      path,
      details: {
        reason: 'too_large',
        limit_bytes: MAX_FILE_BYTES,
        next: 'Split the file, or change it with a command',
      },
    });
  }
  const actual = current?.sha256 ?? null;
  const expected = [...versions].find((version) => version !== actual);
  if (expected !== undefined) throw changedMeanwhile(path, { expected, actual });
  return current;
}

function decode({ bytes }: FileContent, path: string): { readonly text: string; readonly encoding: TextEncoding } {
  const { encoding } = detectEncoding(bytes);
  const text = encoding === 'binary' ? undefined : decodeText(bytes, encoding);
  if (text !== undefined && encoding !== 'binary') return { text, encoding };
  throw new ToolError('E_FILE_IO', `File is not text: ${path}`, {
    path,
    details: { reason: 'binary', next: 'Replace it with file_write and encoding base64' },
  });
}

function encoded(old: Uint8Array, change: TextChange, encoding: TextEncoding, path: string): Buffer {
  const bytes = encodeChange(old, change, encoding);
  if (bytes !== undefined) return bytes;
  throw new ToolError('E_FILE_IO', `New text cannot be written as ${encoding}: ${path}`, {
    path,
    details: { reason: 'encoding', next: 'Leave out characters the encoding does not have, or convert the file first' },
  });
}

function applyEdits(before: string, { path, edits }: FileEdits, options: EditOptions) {
  const placed: PlacedEdit[] = [];
  let change: TextChange = { before, start: 0, end: 0, text: '' };
  for (const [at, edit] of edits.entries()) {
    const text = at === 0 ? before : changedText(change);
    const { part, ...place } = applyEdit(text, edit, { path, number: at + 1, options });
    change = at === 0 ? { before, ...part } : joinChanges(change, part);
    placed.push(place);
  }
  return { change, placed };
}

interface Asked {
  readonly path: string;
  readonly number: number;
  readonly options: EditOptions;
}

type ChangedPart = Omit<TextChange, 'before'>;

function applyEdit(text: string, edit: TextEdit, { path, number, options }: Asked): PlacedEdit & { part: ChangedPart } {
  if (edit.old === '') throw emptyOld(path, number);
  if (edit.old === edit.new) throw sameText(path, number);
  refusePlaceholder(edit, { path, edit: number });
  const miss = { path, edit: number, wanted: edit };
  const hits = findPlaces(text, edit);
  if (hits === undefined || (options.exact === true && hits.match !== 'exact')) throw notFound(text, miss);
  const chosen = edit.all === true ? hits.places : choose(text, hits.places, edit.near_line);
  if (chosen === undefined) throw ambiguous(text, miss, hits);
  const [first] = chosen;
  return { part: replaced(text, chosen), ...linesOf(text, first as Place), match: hits.match, places: chosen.length };
}

/** Undefined when it is not clear which one is meant. */
function choose(text: string, places: readonly Place[], near: number | undefined): readonly Place[] | undefined {
  if (places.length === 1) return places;
  if (near === undefined) return undefined;
  const distances = places.map(({ start }) => Math.abs(lineAt(text, start) - near));
  const least = Math.min(...distances);
  const nearest = places.filter((_, at) => distances[at] === least);
  return nearest.length === 1 ? nearest : undefined;
}

/** `places` are in order. */
function replaced(text: string, places: readonly Place[]): ChangedPart {
  const start = places[0]?.start ?? 0;
  let [now, at] = ['', start];
  for (const place of places) {
    now += text.slice(at, place.start) + place.text;
    at = place.end;
  }
  return { start, end: at, text: now };
}

function linesOf(text: string, { start, end }: Place): { readonly line: number; readonly end_line: number } {
  const line = lineAt(text, start);
  return { line, end_line: line + lineFeeds(text, start, end - 1) };
}

/** Refusals quote lines of the file and are recorded: they lose known secrets. */
function explaining<T>({ redact }: ToolContext, action: () => T): T {
  try {
    return action();
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    const hide = (value: unknown): unknown => {
      if (typeof value === 'string') return redact(value);
      if (Array.isArray(value)) return value.map(hide);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, hide(inner)]));
    };
    throw new ToolError(thrown.code, redact(thrown.message), {
      ...(thrown.path === undefined ? {} : { path: thrown.path }),
      details: hide(thrown.details) as JsonObject,
      cause: thrown,
    });
  }
}

function emptyOld(path: string, edit: number): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Edit ${edit} has nothing to look for, and the file exists: ${path}`, {
    path,
    details: { edit, reason: 'empty_old', next: 'Give the text to replace, or use file_write with append' },
  });
}

function sameText(path: string, edit: number): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Edit ${edit} replaces a text by itself: ${path}`, {
    path,
    details: { edit, reason: 'no_change', next: 'Leave the edit out, or change new' },
  });
}
