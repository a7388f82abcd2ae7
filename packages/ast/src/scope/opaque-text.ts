/**
 * Names in text the grammar keeps as bare tokens: the arguments of macros.
 *
 * A macro may bind names of its own, and it is unknown which. What could be bound inside (after `let`, before `=` or
 * `=>`, between bars) is left unresolved; the rest means what it means outside.
 */
import { firstFrom } from '../symbols/first-from.ts';
import { SPACES, type TextRange } from './scope-model.ts';
import type { TokenDraft } from './token-draft.ts';

const FORMAT_NAME = /\{\{|\{(?:(?<name>[\p{XID_Start}_]\p{XID_Continue}*)|\d*)(?<spec>:[^{}]*)?\}/gu;
const SPEC_NAME = /(?<name>[\p{XID_Start}_]\p{XID_Continue}*)\$/gu;
const BINDS =
  /\blet\b[^=;]*|\bfor\b.*?\bin\b|\|[^|]*\||[^,;{}]*=>|\b(?:fn|struct|enum|trait|type|mod|const|static|macro_rules!)\s+\w+/gsu;

/** Ranges of `{name}` and `{:name$}` in a text that is a format. */
export function formatNames(text: string, range: TextRange): TextRange[] {
  const found: TextRange[] = [];
  for (const match of text.slice(range.start, range.end).matchAll(FORMAT_NAME)) {
    const { name, spec } = match.groups ?? {};
    const start = range.start + match.index + 1;
    if (name !== undefined) found.push({ start, end: start + name.length });
    for (const inner of (spec ?? '').matchAll(SPEC_NAME)) {
      const at = start - 1 + match[0].indexOf(':') + inner.index;
      found.push({ start: at, end: at + (inner.groups?.['name']?.length ?? 0) });
    }
  }
  return found;
}

/** Outermost opaque ranges, each with the names it may bind itself. `code` is the text without strings and comments. */
export function ownNames(code: string, marks: OpaqueMarks, tokens: readonly TokenDraft[]): OpaquePart[] {
  const parts: OpaquePart[] = [];
  const strange = new Set(marks.strange.map(({ start }) => start));
  for (const range of marks.opaque.toSorted((left, right) => left.start - right.start || right.end - left.end)) {
    const last = parts.at(-1);
    if (last !== undefined && range.start < last.end) continue;
    const names = strange.has(range.start) ? undefined : namesBoundIn(code, range, tokens);
    parts.push({ start: range.start, end: range.end, names });
  }
  return parts;
}

interface OpaqueMarks {
  readonly opaque: readonly TextRange[];
  readonly strange: readonly TextRange[];
}

export interface OpaquePart extends TextRange {
  /** Undefined: all of them. */
  readonly names: ReadonlySet<string> | undefined;
}

function namesBoundIn(text: string, range: TextRange, tokens: readonly TokenDraft[]): Set<string> {
  const patterns = [...text.slice(range.start, range.end).matchAll(BINDS)].map((match) => ({
    start: range.start + match.index,
    end: range.start + match.index + match[0].length,
  }));
  const names = new Set<string>();
  for (let at = firstFrom(tokens, range.start); at < tokens.length; at++) {
    const token = tokens[at] as TokenDraft;
    if (token.start >= range.end) break;
    if (token.isString) continue;
    const next = text.slice(token.end, token.end + 8).trimStart();
    const isNamed = /^=(?![=>])/.test(next);
    if (isNamed || patterns.some(({ start, end }) => start <= token.start && token.end <= end)) names.add(token.name);
  }
  return names;
}

/** The text with its strings and comments blanked out, same length. */
export function codeOnly(text: string, texts: readonly TextRange[]): string {
  let code = '';
  let at = 0;
  for (const { start, end } of texts.toSorted((left, right) => left.start - right.start)) {
    if (start < at) continue;
    code += text.slice(at, start) + ' '.repeat(end - start);
    at = end;
  }
  return code + text.slice(at);
}

export interface OpaquePlace {
  /** Of what the token is reached through; -1 when through nothing. */
  readonly objectEnd: number;
  /** After a dot, before a colon, after an apostrophe: a field, a method, a lifetime. */
  readonly isMember: boolean;
  readonly spaces: number;
}

/** The surroundings of an opaque token tell what it can be. */
export function opaquePlace(text: string, { start, end, isString }: TokenDraft): OpaquePlace {
  const before = endBefore(text, start);
  const after = text.slice(end, end + 8).trimStart();
  const isPath = text.slice(before - 2, before) === '::';
  const isField = text[before - 1] === '.' && text[before - 2] !== '.';
  const isLabel = !isPath && !isString && /^:(?!:)/.test(after);
  return {
    objectEnd: isPath ? endBefore(text, before - 2) : -1,
    isMember: isField || isLabel || text[start - 1] === "'",
    spaces: /^!(?!=)/.test(after) ? SPACES.macro : SPACES.any & ~SPACES.macro,
  };
}

/** End of what comes before an offset, white space apart. */
function endBefore(text: string, offset: number): number {
  let at = offset;
  while (at > 0 && /\s/.test(text.charAt(at - 1))) at--;
  return at;
}
