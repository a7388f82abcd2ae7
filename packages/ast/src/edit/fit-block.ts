/**
 * Fits a block of text from elsewhere to the indentation and line ends of a file.
 *
 * Only the white space that lines begin with changes, and never inside a string that spans lines: that would change the
 * program. Callers often cut off the indentation of the first line only; the other lines then show where it was.
 */
import type { Draft } from './draft.ts';
import { refuseEdit } from './edit-failures.ts';
import { frozenRows } from './syntax-node.ts';
import { indentOf, isBlank, type TextStyle } from './text-style.ts';

export interface BlockPlace {
  /** Of the line where the block will begin. */
  readonly indent: string;
  readonly style: TextStyle;
  /** Rows of the block (from 0) that must stay as they are. */
  readonly frozen: ReadonlySet<number>;
}

/** Line breaks as `\n`, without blank lines around. */
export function trimBlock(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd();
}

/** `text` as `trimBlock` leaves it. The first line comes without indentation: it goes to where the caller puts it. */
export function fitBlock(text: string, { indent, style, frozen }: BlockPlace): string {
  const lines = text.split('\n');
  const base = baseOf(lines, frozen, style.indent);
  const fitted = lines.map((line, row) => {
    if (frozen.has(row)) return line;
    if (isBlank(line)) return '';
    const own = indentOf(line);
    const [inner, rest] = [own.slice(common(own, row === 0 ? own : base)), line.slice(own.length)];
    return row === 0 ? rest : indent + likeFile(inner, style.indent) + rest;
  });
  return fitted.join(style.newline);
}

/** How far the block as a whole was indented. */
function baseOf(lines: readonly string[], frozen: ReadonlySet<number>, unit: string): string {
  const rest = lines.map((line, row) => ({ line, row })).filter(({ line, row }) => row > 0 && !isBlank(line));
  const shown = rest.filter(({ row }) => !frozen.has(row)).map(({ line }) => line);
  const first = lines[0] ?? '';
  const least = shown.map(indentOf).reduce((a, b) => (b.length < a.length ? b : a), indentOf(shown[0] ?? ''));
  if (indentOf(first) !== '' || least === '') {
    return least.length < indentOf(first).length ? least : indentOf(first);
  }
  const last = shown.at(-1) ?? '';
  if (/^\s*[)}\]]/.test(last)) return indentOf(last);
  if (!opensBlock(first)) return least;
  return least.length > unit.length ? least.slice(unit.length) : '';
}

function opensBlock(line: string): boolean {
  return /(?:[{([:,=]|=>|->|\b(?:do|then|begin|else|try|class|module|def\b.*|class\b.*|module\b.*))\s*(?:[#/].*)?$/.test(
    line,
  );
}

function common(own: string, base: string): number {
  let at = 0;
  while (at < base.length && own[at] === base[at]) at++;
  return at;
}

/** Tabs for spaces and the other way round, where the block and the file differ. */
function likeFile(inner: string, unit: string): string {
  if (unit === '\t' && /^ +$/.test(inner)) {
    const width = inner.length % 4 === 0 ? 4 : 2;
    return '\t'.repeat(Math.ceil(inner.length / width));
  }
  return unit !== '\t' && inner.includes('\t') ? inner.replaceAll('\t', unit) : inner;
}

/**
 * Text from outside, fitted to a place in a draft.
 *
 * Without indentation of its first line. Throws E_AST_EDIT for text that is blank.
 */
export function newText(draft: Draft, text: string, indent: string): string {
  const trimmed = trimBlock(text);
  if (trimmed === '') {
    throw refuseEdit('empty_text', 'New text is empty', { path: 'text', next: 'use delete_symbol to remove code' });
  }
  return fitBlock(trimmed, { indent, style: draft.style, frozen: frozenRows(draft, trimmed) });
}
