/**
 * Resolves every name of one file by scope, from the captures of its language's `locals.scm`.
 *
 * Pure: looks at nothing but the file. What a name imported from elsewhere means is the module system's affair.
 */
import type { ParsedSource } from '../parse/source-parser.ts';
import { firstFrom } from '../symbols/extents.ts';
import { bindDefinitions } from './bind-definitions.ts';
import { buildScopes, type ScopeTree, standsFor, type TokenDraft } from './build-scopes.ts';
import { lookUp } from './look-up.ts';
import { readMarks, type ScopeMarks, type TokenMark } from './read-marks.ts';
import { type FileScopes, type NameToken, SPACES, type TextRange } from './scope-model.ts';

/** Rust writes `r#type` for a name that is also a keyword; the name is `type`. */
const RAW_PREFIX = 'r#';
const QUOTED_NAME = /[\p{XID_Start}_]\p{XID_Continue}*/gu;

export function resolveScopes(parsed: ParsedSource): FileScopes {
  const { source, parser } = parsed;
  const { text } = source;
  const marks = readMarks(parsed);
  const tree = buildScopes(marks.scopes, text.length);
  const tokens = draftTokens(marks, tree, text);
  const places = indexPlaces(tokens, marks, { tree, text });
  bindDefinitions(marks, tokens, tree);
  linkMembers(marks, places);
  resolveReferences(marks, tokens);
  resolveOpaque(marks, tokens, { text, places });
  return {
    source,
    language: parser.language,
    scopes: tree.scopes,
    tokens,
    links: marks.links.map((link) => ({ ...link, scope: tree.around(link) })),
    texts: marks.texts,
    nameCharacter: new RegExp(parser.profile.identifier.regex, 'u').test('a$')
      ? /[\p{ID_Continue}$]/u
      : /\p{ID_Continue}/u,
    isApart: tree.isApart,
    tokenAt: (start) => places.byStart.get(start),
    tokenFilling: (range) => places.filling(range),
    tokensNamed: (name) => places.byName.get(name) ?? [],
    scopeAt: (offset) => tree.at(offset),
  };
}

interface Places {
  readonly byStart: Map<number, TokenDraft>;
  readonly byEnd: Map<number, TokenDraft>;
  readonly byName: Map<string, TokenDraft[]>;
  /** Expressions that mean a module, by their range. */
  readonly modules: Map<string, TokenDraft>;
  filling(range: TextRange): TokenDraft | undefined;
}

function draftTokens(marks: ScopeMarks, tree: ScopeTree, text: string): TokenDraft[] {
  const known = new Set(marks.tokens.map(({ start }) => start));
  const extra: TokenMark[] = [];
  const add = (range: TextRange, isMember: boolean) => {
    if (known.has(range.start)) return;
    extra.push({ ...range, spaces: SPACES.any, isMember, shorthand: undefined, isString: true });
    known.add(range.start);
  };
  // A string that is the name of a member: `module['name']`.
  for (const member of marks.members) add(member, true);
  for (const format of marks.formats) for (const range of formatNames(text, format)) add(range, false);
  for (const range of marks.quoted) for (const name of quotedNames(text, range, marks)) add(name, false);
  return [...marks.tokens, ...extra]
    .sort((left, right) => left.start - right.start)
    .map((mark) => draftToken(marks.shorthands.has(mark.start) ? { ...mark, shorthand: 'value' } : mark, tree, text));
}

function draftToken(mark: TokenMark, tree: ScopeTree, text: string): TokenDraft {
  const { start, end, spaces, isMember, shorthand, isString } = mark;
  const written = text.slice(start, end);
  return {
    start,
    end,
    name: written.startsWith(RAW_PREFIX) ? written.slice(RAW_PREFIX.length) : written,
    role: isMember ? 'member' : 'reference',
    spaces,
    scope: tree.at(start),
    binding: undefined,
    object: undefined,
    isAccess: false,
    shorthand,
    isString,
    moduleSource: undefined,
  };
}

/** Names in a string that holds code; what follows a dot is a member of what comes before it. */
function quotedNames(text: string, range: TextRange, marks: ScopeMarks): TextRange[] {
  const quoted = text.slice(range.start, range.end);
  if (marks.plain.has(range.start) || /['"]/.test(quoted)) return [];
  return [...quoted.matchAll(QUOTED_NAME)].map((match) => {
    const start = range.start + match.index;
    const found = { start, end: start + match[0].length };
    if (quoted[match.index - 1] === '.') marks.members.push({ ...found, object: { start: -1, end: start - 1 } });
    return found;
  });
}

function indexPlaces(
  tokens: readonly TokenDraft[],
  marks: ScopeMarks,
  { tree, text }: { readonly tree: ScopeTree; readonly text: string },
): Places {
  const byStart = new Map(tokens.map((token) => [token.start, token]));
  const byEnd = new Map(tokens.map((token) => [token.end, token]));
  const byName = new Map<string, TokenDraft[]>();
  for (const token of tokens) {
    const same = byName.get(token.name);
    if (same === undefined) byName.set(token.name, [token]);
    else same.push(token);
  }
  const modules = moduleExpressions(marks, tree, text);
  return {
    byStart,
    byEnd,
    byName,
    modules,
    filling: (range) => modules.get(`${range.start}:${range.end}`) ?? standsFor(byEnd.get(range.end), range),
  };
}

function moduleExpressions({ links }: ScopeMarks, tree: ScopeTree, text: string): Map<string, TokenDraft> {
  const modules = new Map<string, TokenDraft>();
  for (const { form, parts } of links) {
    const [module, source] = [parts.get('module'), parts.get('source')];
    if (form !== 'expression' || module === undefined || source === undefined) continue;
    const mark = { ...module, spaces: 0, isMember: false, shorthand: undefined, isString: false };
    const moduleSource = text.slice(source.start, source.end);
    modules.set(`${module.start}:${module.end}`, {
      ...draftToken(mark, tree, text),
      name: '',
      role: 'other',
      moduleSource,
    });
  }
  return modules;
}

/** In file order, so that `a.b` is linked before `a.b.c`. */
function linkMembers({ members }: ScopeMarks, { byStart, filling }: Places): void {
  for (const { start, object } of members.toSorted((left, right) => left.start - right.start)) {
    const token = byStart.get(start);
    if (token === undefined) continue;
    token.isAccess = true;
    if (object !== undefined) token.object = filling(object);
    if (token.role === 'reference') token.role = 'member';
  }
}

function resolveReferences(marks: ScopeMarks, tokens: readonly TokenDraft[]): void {
  for (const token of tokens) {
    const { start } = token;
    if (marks.memberDefinitions.has(start)) token.role = 'member';
    if (token.role === 'member') token.spaces = marks.spaces.get(start) ?? token.spaces;
    if (token.role !== 'reference') continue;
    if (marks.ignored.has(start)) {
      token.role = 'other';
      continue;
    }
    token.spaces = marks.spaces.get(start) ?? token.spaces;
    token.binding = bindingOf(token);
  }
}

function bindingOf({ name, spaces, scope, start }: NameToken) {
  return lookUp({ name, spaces, scope, at: start });
}

function resolveOpaque(
  marks: ScopeMarks,
  tokens: readonly TokenDraft[],
  { text, places }: { readonly text: string; readonly places: Places },
): void {
  if (marks.opaque.length === 0) return;
  for (const part of ownNames(codeOnly(text, marks.texts), marks, tokens)) {
    for (let at = firstFrom(tokens, part.start); at < tokens.length; at++) {
      const token = tokens[at] as TokenDraft;
      if (token.start >= part.end) break;
      const place = opaquePlace(text, token);
      token.role = 'opaque';
      token.binding = undefined;
      token.isAccess = place.isMember;
      token.object = places.byEnd.get(place.objectEnd);
      // Without a space it means nothing that is known.
      token.spaces = part.names?.has(token.name) === false || place.objectEnd !== -1 ? place.spaces : 0;
      if (!place.isMember && place.objectEnd === -1) token.binding = bindingOf(token);
    }
  }
}

const FORMAT_NAME = /\{\{|\{(?:(?<name>[\p{XID_Start}_]\p{XID_Continue}*)|\d*)(?<spec>:[^{}]*)?\}/gu;
const SPEC_NAME = /(?<name>[\p{XID_Start}_]\p{XID_Continue}*)\$/gu;
const BINDS =
  /\blet\b[^=;]*|\bfor\b.*?\bin\b|\|[^|]*\||[^,;{}]*=>|\b(?:fn|struct|enum|trait|type|mod|const|static|macro_rules!)\s+\w+/gsu;

/**
 * Names in text the grammar keeps as bare tokens: the arguments of macros.
 *
 * A macro may bind names of its own, and it is unknown which. What could be bound inside (after `let`, before `=` or
 * `=>`, between bars) is left unresolved; the rest means what it means outside.
 *
 * Ranges of `{name}` and `{:name$}` in a text that is a format.
 */
function formatNames(text: string, range: TextRange): TextRange[] {
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
function ownNames(code: string, marks: OpaqueMarks, tokens: readonly TokenDraft[]): OpaquePart[] {
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

interface OpaquePart extends TextRange {
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
function codeOnly(text: string, texts: readonly TextRange[]): string {
  let code = '';
  let at = 0;
  for (const { start, end } of texts.toSorted((left, right) => left.start - right.start)) {
    if (start < at) continue;
    code += text.slice(at, start) + ' '.repeat(end - start);
    at = end;
  }
  return code + text.slice(at);
}

interface OpaquePlace {
  /** Of what the token is reached through; -1 when through nothing. */
  readonly objectEnd: number;
  /** After a dot, before a colon, after an apostrophe: a field, a method, a lifetime. */
  readonly isMember: boolean;
  readonly spaces: number;
}

/** The surroundings of an opaque token tell what it can be. */
function opaquePlace(text: string, { start, end, isString }: TokenDraft): OpaquePlace {
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
