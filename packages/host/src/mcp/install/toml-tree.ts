/**
 * A TOML file as the list of its headers and pairs, with their places: what it takes to put one table in or exchange it.
 *
 * A key or table that is written twice is refused. Finer points of TOML (whether a table was closed by being inline) are
 * judged only where a table is to be placed, see edit-toml.ts.
 */
import { notParsed } from './config-problem.ts';
import { TomlReader, type TomlValue } from './toml-reader.ts';

export interface TomlStatement {
  /** `header`: `[a.b]`; `item`: `[[a.b]]`; `pair`: `key = value`. */
  readonly kind: 'header' | 'item' | 'pair';
  /** From the root of the file; under an item its place in the list is part of the path, as `#0`. */
  readonly path: readonly string[];
  /** Beginning of its line. */
  readonly start: number;
  /** Before the line end, a comment on the line included. */
  readonly end: number;
  readonly value?: TomlValue;
}

export function parseToml(text: string): readonly TomlStatement[] {
  const reader = new TomlReader(text);
  const statements: TomlStatement[] = [];
  const seen = new Set<string>();
  const items = new Map<string, number>();
  let table: readonly string[] = [];
  for (reader.skipBlank(); !reader.atEnd; reader.skipBlank()) {
    const at = reader.at;
    const start = Math.max(text.lastIndexOf('\n', at - 1) + 1, text.startsWith('\uFEFF') ? 1 : 0);
    if (reader.text[at] === '[') {
      const { kind, key } = readHeader(reader);
      table = kind === 'header' ? throughItems(key, items) : nextItem(key, items);
      if (kind === 'header') once(seen, table, { text, at });
      statements.push({ kind, path: table, start, end: reader.at });
    } else {
      const { key, value } = readPair(reader);
      const path = [...table, ...key];
      once(seen, path, { text, at });
      statements.push({ kind: 'pair', path, start, end: reader.at, value });
    }
  }
  return statements;
}

function readHeader(reader: TomlReader): { kind: 'header' | 'item'; key: string[] } {
  const kind = reader.take('[[') ? 'item' : 'header';
  if (kind === 'header') reader.expect('[');
  const key = reader.readKey();
  reader.expect(kind === 'item' ? ']]' : ']');
  reader.finishLine();
  return { kind, key };
}

function readPair(reader: TomlReader): { key: string[]; value: TomlValue } {
  const key = reader.readKey();
  reader.expect('=');
  reader.skipSpace();
  const value = reader.readValue();
  reader.finishLine();
  return { key, value };
}

function nextItem(key: readonly string[], items: Map<string, number>): string[] {
  const path = [...throughItems(key.slice(0, -1), items), ...key.slice(-1)];
  const place = (items.get(JSON.stringify(path)) ?? -1) + 1;
  items.set(JSON.stringify(path), place);
  return [...path, `#${place}`];
}

/** A header below a list of tables means the last of them. */
function throughItems(key: readonly string[], items: ReadonlyMap<string, number>): string[] {
  const path: string[] = [];
  for (const part of key) {
    path.push(part);
    const place = items.get(JSON.stringify(path));
    if (place !== undefined) path.push(`#${place}`);
  }
  return path;
}

function once(seen: Set<string>, path: readonly string[], { text, at }: { text: string; at: number }): void {
  const key = JSON.stringify(path);
  if (seen.has(key)) throw notParsed(`occurs twice: ${path.join('.')}`, text, at);
  seen.add(key);
}
