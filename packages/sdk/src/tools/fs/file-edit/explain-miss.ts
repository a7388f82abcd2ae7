/** Edits that have no place, or more than one. Each refusal shows the file's own lines, so that the next try can fit. */
import { type JsonObject, ToolError } from '@tool-runtime/protocol';
import { safeLine, safeText } from '@tool-runtime/protocol/internal';
import { findPlaces, type Hits, type Wanted } from '../../../text/edit-ladder.ts';
import { lineFeeds } from '../../../text/line-diff.ts';
import { contentOf, indentOf } from '../../../text/shift-indent.ts';

export interface Miss {
  readonly path: string;
  /** From 1. */
  readonly edit: number;
  readonly wanted: Wanted;
}

const MAX_PLACES = 5;
const MAX_NEAREST = 3;
const MAX_SHOWN_LINES = 12;
const MAX_LINE = 200;

function refusal({ path, edit }: Miss, message: string, details: JsonObject): ToolError {
  return new ToolError('E_FILE_IO', `${message}: ${path}`, { path, details: { edit, ...details } });
}

export function ambiguous(file: string, miss: Miss, { match, places }: Hits): ToolError {
  const lines = file.split('\n');
  const shown = places.slice(0, MAX_PLACES).map(({ start }) => {
    const line = lineAt(file, start);
    return { line, ...enclosing(lines, line) };
  });
  const [first] = shown;
  return refusal(miss, `Edit ${miss.edit} fits ${places.length} places (${match})`, {
    reason: 'ambiguous',
    match,
    hits: places.length,
    places: shown,
    next: `Give more lines around it in old, or near_line (such as ${first?.line}), or all: true for every place; nothing was changed`,
  });
}

/** The nearest line above that is indented less: the function, class or block that holds the place. */
function enclosing(lines: readonly string[], line: number): { within?: string } {
  const own = indentOf(lines[line - 1] ?? '').length;
  for (let above = line - 2; above >= 0; above--) {
    const text = lines[above] ?? '';
    if (contentOf(text) === '' || indentOf(text).length >= own) continue;
    return { within: safeText(contentOf(text), MAX_LINE) };
  }
  return {};
}

export function notFound(file: string, miss: Miss): ToolError {
  const { wanted, edit } = miss;
  if (wanted.new.trim() !== '' && findPlaces(file, { old: wanted.new, new: wanted.new })?.places.length === 1) {
    return refusal(miss, `Edit ${edit} is in the file already`, {
      reason: 'already_applied',
      next: 'Leave the edit out, or read the file again; nothing was changed',
    });
  }
  const nearest = nearestPlaces(file, wanted.old);
  const [best] = nearest;
  const where = best === undefined ? 'nothing in the file is like it' : `the nearest place is line ${best['line']}`;
  return refusal(miss, `Edit ${edit} fits nowhere, ${where}`, {
    reason: 'not_found',
    ...(nearest.length === 0 ? {} : { nearest }),
    next:
      best === undefined
        ? 'Read the file again and copy old from it; nothing was changed'
        : 'Copy old from the lines shown in nearest; nothing was changed',
  });
}

/** Places that share most lines with the old text; where none is shared, the line that shares most words. */
function nearestPlaces(file: string, old: string): JsonObject[] {
  const lines = file.split('\n').map((line) => line.replace(/\r$/, ''));
  const asked = old.replace(/\n$/, '').split('\n');
  const votes = new Map<number, number>();
  const rows = new Map<string, number[]>();
  for (const [row, line] of lines.entries()) {
    const content = contentOf(line);
    if (content.length > 1) rows.set(content, [...(rows.get(content) ?? []).slice(0, 50), row]);
  }
  for (const [at, line] of asked.entries()) {
    for (const row of rows.get(contentOf(line)) ?? []) {
      const first = Math.max(0, row - at);
      votes.set(first, (votes.get(first) ?? 0) + 1);
    }
  }
  const best = [...votes].sort(([one, some], [other, more]) => more - some || one - other).slice(0, MAX_NEAREST);
  const firsts = best.length > 0 ? best.map(([first]) => first) : likeliest(lines, asked);
  return firsts.map((first) => describe(lines, asked, first));
}

function likeliest(lines: readonly string[], asked: readonly string[]): number[] {
  const longest = asked.reduce((long, line) => (line.length > long.length ? line : long), '');
  const words = new Set(longest.match(/\w{3,}/g) ?? []);
  let [best, most] = [-1, 0];
  for (const [row, line] of lines.entries()) {
    const shared = new Set((line.match(/\w{3,}/g) ?? []).filter((word) => words.has(word))).size;
    if (shared > most) [best, most] = [row, shared];
  }
  return best < 0 || most < Math.max(1, words.size / 2) ? [] : [Math.max(0, best - asked.indexOf(longest))];
}

function describe(lines: readonly string[], asked: readonly string[], first: number): JsonObject {
  const shown = lines.slice(first, first + Math.min(asked.length, MAX_SHOWN_LINES));
  const at = asked.findIndex((line, row) => line !== lines[first + row]);
  return {
    line: first + 1,
    text: shown.map((line) => safeLine(line, MAX_LINE)).join('\n'),
    ...(at < 0 ? {} : { first_difference: difference(lines, asked, { first, at }) }),
  };
}

function difference(
  lines: readonly string[],
  asked: readonly string[],
  { first, at }: { readonly first: number; readonly at: number },
): JsonObject {
  const found = lines[first + at];
  return {
    line: first + at + 1,
    asked: safeLine(asked[at] ?? '', MAX_LINE),
    found: found === undefined ? null : safeLine(found, MAX_LINE),
  };
}

/** From 1. */
export function lineAt(text: string, offset: number): number {
  return 1 + lineFeeds(text, 0, offset);
}
