/** Runs the query of `locals.scm` and sorts what it captures by meaning. Nothing is resolved here. */
import type { QueryMatch } from 'web-tree-sitter';
import type { ParsedSource } from '../parse/source-parser.ts';
import { SPACES, type TextPart, type TextRange } from './scope-model.ts';

export interface ScopeMark extends TextRange {
  /** `outer`: text inside a scope that is looked up outside of it, such as a default value in Python. */
  readonly kind: string;
  readonly barrier: 'locals' | 'all' | undefined;
  readonly isApart: boolean;
}

export interface TokenMark extends TextRange {
  readonly spaces: number;
  readonly isMember: boolean;
  readonly shorthand: 'value' | 'pattern' | undefined;
  readonly isString: boolean;
}

export interface DefinitionMark extends TextRange {
  readonly form: 'one' | 'outer' | 'each';
  /** Kinds of scope to bind in; the innermost scope when absent. */
  readonly into: readonly string[] | undefined;
  readonly spaces: number | undefined;
  readonly isLocal: boolean;
  readonly isMember: boolean;
  readonly canBeShadowed: boolean;
  /** Names that look like this are no definitions but mean something that exists (Rust: constants in patterns). */
  readonly unless: RegExp | undefined;
  readonly from: number | undefined;
  /** `from` counts in scopes of these kinds only. */
  readonly fromIn: readonly string[] | undefined;
  readonly to: number | undefined;
}

export interface MemberMark extends TextRange {
  readonly object: TextRange | undefined;
}

export interface LinkMark extends TextRange {
  readonly form: string;
  readonly name: string | undefined;
  readonly parts: ReadonlyMap<string, TextRange>;
}

export interface ScopeMarks {
  readonly scopes: ScopeMark[];
  readonly tokens: TokenMark[];
  readonly definitions: DefinitionMark[];
  /** Starts of tokens that define members no scope knows. */
  readonly memberDefinitions: Set<number>;
  /** Parts of patterns that are expressions. */
  readonly expressions: TextRange[];
  readonly ignored: Set<number>;
  readonly spaces: Map<number, number>;
  readonly members: MemberMark[];
  readonly redirects: (TextRange & { readonly kind: 'global' | 'nonlocal' })[];
  readonly links: LinkMark[];
  readonly texts: TextPart[];
  readonly opaque: TextRange[];
  /** Those among them where no name means what it means outside. */
  readonly strange: TextRange[];
  /** Texts with `{name}` in them that are read as code. */
  readonly formats: TextRange[];
  /** Strings that hold code: names and dots. */
  readonly quoted: TextRange[];
  /** Starts of tokens that are a field and a variable in one, where their kind does not say so. */
  readonly shorthands: Set<number>;
  /** Starts of strings that hold none after all. */
  readonly plain: Set<number>;
}

/** Where a hoisted definition goes: everything but blocks. */
const HOIST: readonly string[] = ['module', 'function', 'class', 'namespace', 'ambient'];

type Properties = Readonly<Record<string, string | null>>;

const NONE: Properties = {};

export function readMarks({ tree, parser }: ParsedSource): ScopeMarks {
  const marks: ScopeMarks = {
    scopes: [],
    tokens: [],
    definitions: [],
    memberDefinitions: new Set(),
    expressions: [],
    ignored: new Set(),
    spaces: new Map(),
    members: [],
    redirects: [],
    links: [],
    texts: [],
    opaque: [],
    formats: [],
    quoted: [],
    plain: new Set(),
    shorthands: new Set(),
    strange: [],
  };
  for (const match of parser.queries.locals?.matches(tree.rootNode) ?? []) readMatch(match, marks);
  marks.expressions.sort((left, right) => left.start - right.start);
  return marks;
}

function readMatch(match: QueryMatch, marks: ScopeMarks): void {
  const properties = match.setProperties ?? NONE;
  const ranges = match.captures.map(({ name, node }) => ({ name, start: node.startIndex, end: node.endIndex }));
  const part = (name: string) => ranges.find((range) => range.name === name);
  if (properties['link'] !== undefined) marks.links.push(readLink(ranges, properties));
  for (const range of ranges) {
    const [family = '', form] = range.name.split('.');
    if (family === 'def' && form !== 'member') marks.definitions.push(readDefinition(range, form, properties, part));
    else if (family === 'member') marks.members.push({ start: range.start, end: range.end, object: part('object') });
    else readSimple(range, family, form, { properties, marks });
  }
}

interface Gathered {
  readonly properties: Properties;
  readonly marks: ScopeMarks;
}

type Named = TextRange & { readonly name: string };

function readSimple(range: Named, family: string, form: string | undefined, { properties, marks }: Gathered): void {
  switch (family) {
    case 'token':
      marks.tokens.push(readToken(range, form, properties));
      break;
    case 'scope':
      marks.scopes.push(readScope(range, form ?? 'block', properties));
      break;
    case 'outer':
      marks.scopes.push({ ...range, kind: 'outer', barrier: undefined, isApart: false });
      break;
    case 'text':
      marks.texts.push({ ...range, kind: form === 'comment' ? 'comment' : 'string' });
      break;
    case 'def':
      marks.memberDefinitions.add(range.start);
      break;
    case 'expr':
      marks.expressions.push(range);
      break;
    case 'notref':
      marks.ignored.add(range.start);
      break;
    case 'ref':
      marks.spaces.set(range.start, readSpaces(properties['space'] ?? 'any'));
      break;
    case 'global':
    case 'nonlocal':
      marks.redirects.push({ ...range, kind: family });
      break;
    case 'opaque':
      marks.opaque.push(range);
      if (form === 'unknown') marks.strange.push(range);
      break;
    case 'format':
      marks.formats.push(range);
      break;
    case 'quoted':
      marks.quoted.push(range);
      break;
    case 'shorthand':
      marks.shorthands.add(range.start);
      break;
    case 'plain':
      marks.plain.add(range.start);
      break;
    default:
      if (!family.startsWith('_') && !PARTS.has(family))
        throw new TypeError(`Unknown capture in locals.scm: ${range.name}`);
  }
}

/** Captures that mean something only beside another of the same match. */
const PARTS = new Set(['object', 'after', 'in', 'link']);

function readToken(range: TextRange, form: string | undefined, properties: Properties): TokenMark {
  const { shorthand } = properties;
  return {
    start: range.start,
    end: range.end,
    spaces: readSpaces(properties['space'] ?? 'any'),
    isMember: properties['role'] === 'member',
    shorthand: shorthand === 'value' || shorthand === 'pattern' ? shorthand : undefined,
    isString: form === 'string',
  };
}

function readScope(range: TextRange, kind: string, properties: Properties): ScopeMark {
  const { barrier } = properties;
  return {
    start: range.start,
    end: range.end,
    kind,
    barrier: barrier === 'locals' || barrier === 'all' ? barrier : undefined,
    isApart: properties['spaces'] === 'apart',
  };
}

function readDefinition(
  range: TextRange,
  form: string | undefined,
  properties: Properties,
  part: (name: string) => TextRange | undefined,
): DefinitionMark {
  const hoists = form === 'hoist' || properties['hoist'] != null;
  const { unless, space } = properties;
  return {
    start: range.start,
    end: range.end,
    form: form === 'each' || form === 'outer' ? form : 'one',
    into: properties['into']?.split(' ') ?? (hoists ? HOIST : undefined),
    spaces: space == null ? undefined : readSpaces(space),
    isLocal: properties['local'] != null,
    isMember: properties['member'] != null,
    canBeShadowed: properties['shadow'] != null,
    unless: unless == null ? undefined : new RegExp(unless, 'u'),
    from: part('after')?.end,
    fromIn: properties['after']?.split(' '),
    to: part('in')?.end,
  };
}

function readLink(ranges: readonly Named[], properties: Properties): LinkMark {
  const parts = new Map<string, TextRange>();
  for (const range of ranges) {
    if (range.name.startsWith('link.')) parts.set(range.name.slice('link.'.length), range);
  }
  const starts = [...parts.values()].map(({ start }) => start);
  const ends = [...parts.values()].map(({ end }) => end);
  return {
    form: properties['link'] ?? '',
    name: properties['name'] ?? undefined,
    parts,
    start: Math.min(...starts),
    end: Math.max(...ends),
  };
}

function readSpaces(words: string): number {
  let spaces = 0;
  for (const word of words.split(' ')) {
    const bit = SPACES[word as keyof typeof SPACES];
    if (bit === undefined) throw new TypeError(`Unknown space in locals.scm: ${word}`);
    spaces |= bit;
  }
  return spaces;
}
