/**
 * Sets one table of a TOML file by changing its text in one place; everything else keeps its bytes.
 *
 * An older entry may be written as a table, with tables below it, as pairs or inline. All of it goes and one plain table
 * comes, where the old header stood or at the end of the file. A parent that cannot be extended (an inline table, a list
 * of tables) is refused.
 */
import { isDeepStrictEqual } from 'node:util';
import { configProblem, placeOf } from './config-problem.ts';
import type { TomlValue } from './toml-reader.ts';
import { parseToml, type TomlStatement } from './toml-tree.ts';

export type TomlEntry = Readonly<Record<string, string | boolean | readonly string[]>>;

/** The new text; the same one when the table is there and says exactly this. */
export function setTomlTable(text: string, path: readonly string[], entry: TomlEntry): string {
  const statements = parseToml(text);
  checkParents(text, statements, path);
  const old = statements.filter((statement) => isBelow(statement.path, path));
  if (isSame(old, path, entry)) return text;
  const changed = place(text, { old, table: formatTable(path, entry, eolOf(text)) });
  checkEdit(statements, parseToml(changed), { path, entry });
  return changed;
}

function place(text: string, { old, table }: { old: readonly TomlStatement[]; table: string }): string {
  const header = old.find(({ kind }) => kind === 'header');
  let changed = text;
  // From the end, so that places before stay valid.
  for (const statement of old.toReversed()) {
    const start = statement.start;
    const end = endOfLine(changed, statement.end);
    changed = changed.slice(0, start) + (statement === header ? table : '') + changed.slice(end);
  }
  if (header !== undefined) return changed;
  const eol = eolOf(text);
  const body = changed === '' || changed === '\uFEFF' || changed.endsWith('\n') ? changed : changed + eol;
  return body + (body.trim() === '' ? '' : eol) + table;
}

function endOfLine(text: string, end: number): number {
  const newline = text.indexOf('\n', end);
  return newline === -1 ? text.length : newline + 1;
}

function formatTable(path: readonly string[], entry: TomlEntry, eol: string): string {
  const pairs = Object.entries(entry).map(([key, value]) => `${formatKey(key)} = ${formatValue(value)}`);
  return [`[${path.map(formatKey).join('.')}]`, ...pairs, ''].join(eol);
}

function formatKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : formatText(key);
}

function formatValue(value: TomlEntry[string]): string {
  if (typeof value === 'string') return formatText(value);
  return typeof value === 'boolean' ? String(value) : `[${value.map(formatText).join(', ')}]`;
}

/** JSON escapes are TOML escapes; TOML forbids one character more. */
function formatText(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f');
}

function checkParents(text: string, statements: readonly TomlStatement[], path: readonly string[]): void {
  for (const { kind, path: other, start } of statements) {
    const isInlineParent = kind === 'pair' && other.length < path.length && isBelow(path, other);
    const isListed = other.some(
      (part, depth) => part.startsWith('#') && depth <= path.length && isBelow(path, other.slice(0, depth)),
    );
    if (!isInlineParent && !isListed) continue;
    const next = `write it as [${path.slice(0, -1).join('.')}.<name>] tables, then install again`;
    throw configProblem(`No place for the entry at ${placeOf(text, start)}: ${other[0]} is no table of tables`, next);
  }
}

function isSame(old: readonly TomlStatement[], path: readonly string[], entry: TomlEntry): boolean {
  if (old.filter(({ kind }) => kind !== 'pair').length !== 1) return false;
  return isDeepStrictEqual(meaningOf(old), meaningOfEntry(path, entry));
}

/** Path → value of every pair. */
function meaningOf(statements: readonly TomlStatement[]): Map<string, TomlValue | undefined> {
  return new Map(
    statements.filter(({ kind }) => kind === 'pair').map(({ path, value }) => [JSON.stringify(path), value]),
  );
}

function meaningOfEntry(path: readonly string[], entry: TomlEntry): Map<string, TomlValue> {
  return new Map(Object.entries(entry).map(([key, value]) => [JSON.stringify([...path, key]), value]));
}

interface Target {
  readonly path: readonly string[];
  readonly entry: TomlEntry;
}

function checkEdit(before: readonly TomlStatement[], after: readonly TomlStatement[], { path, entry }: Target): void {
  const others = (statements: readonly TomlStatement[]): readonly TomlStatement[] =>
    statements.filter((statement) => !isBelow(statement.path, path));
  const shape = (statements: readonly TomlStatement[]): object =>
    others(statements).map(({ kind, path: at, value }) => ({ kind, at, value }));
  const entries = after.filter((statement) => isBelow(statement.path, path));
  if (isDeepStrictEqual(shape(before), shape(after)) && isSame(entries, path, entry)) return;
  throw configProblem(
    'The entry cannot be placed without changing other settings',
    'add it by hand; see it with --print',
  );
}

function isBelow(path: readonly string[], parent: readonly string[]): boolean {
  return parent.every((part, depth) => path[depth] === part);
}

function eolOf(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n';
}
