/** The words of a query, checked and turned into what the scan compares. An unknown word is an error, never ignored. */
import { ToolError } from '@tool-runtime/protocol';
import { compileGlobs, type GlobTest } from '@tool-runtime/sdk';
import { z } from 'zod';
import type { Where } from '../contracts/code-index-contract.ts';
import { dottedPath, TYPE_ALIASES, TYPE_WORDS } from '../contracts/facts.ts';
import { MARK, placeOfType } from './facts-layout.ts';

export interface CompiledWhere {
  /** Which types pass, by the type's place, plus TRAIT_PLACE for traits. */
  readonly types: Uint8Array | undefined;
  /** The flags of a mark that matter, and what they must be. */
  readonly mask: number;
  readonly wanted: number;
  readonly name: WildPattern | undefined;
  readonly container: WildPattern | undefined;
  readonly language: string | undefined;
  readonly calls: string | undefined;
  readonly path: PathTest | undefined;
}

export interface PathTest {
  readonly glob: string;
  /** How every matching path begins. */
  readonly prefix: string;
  readonly test: GlobTest;
}

const TRAIT_PLACE = MARK.types + 1;

const schema: z.ZodType<Where> = z.strictObject({
  type: z.enum(TYPE_WORDS).exactOptional(),
  type_in: z.array(z.enum(TYPE_WORDS)).min(1).exactOptional(),
  name_like: z.string().min(1).max(500).exactOptional(),
  file_glob: z.string().exactOptional(),
  exported: z.boolean().exactOptional(),
  container: z.string().max(2000).exactOptional(),
  language: z.string().exactOptional(),
  has_doc: z.boolean().exactOptional(),
  test: z.boolean().exactOptional(),
  calls: z.string().min(1).exactOptional(),
});

/** Throws E_VALIDATION_FAIL. `languages` are those that can be asked for. */
export function compileWhere(input: Where, languages: readonly string[]): CompiledWhere {
  const where = parse(input);
  if (where.language !== undefined && !languages.includes(where.language)) {
    throw refusal(`Unknown language: ${where.language}`, 'where.language', `one of ${languages.join(', ')}`);
  }
  const flags = [
    [MARK.exported, where.exported],
    [MARK.hasDoc, where.has_doc],
    [MARK.test, where.test],
  ] as const;
  const asked = flags.filter(([, value]) => value !== undefined);
  return {
    types: typeSet(where),
    mask: asked.reduce((mask, [flag]) => mask | flag, 0),
    wanted: asked.reduce((mask, [flag, value]) => (value === true ? mask | flag : mask), 0),
    name: where.name_like === undefined ? undefined : wildPattern(where.name_like),
    container: where.container === undefined ? undefined : wildPattern(dottedPath(where.container)),
    language: where.language,
    calls: where.calls,
    path: where.file_glob === undefined ? undefined : pathTest(where.file_glob),
  };
}

/** Place of a mark in `CompiledWhere.types`. */
export function typePlaceOf(mark: number): number {
  return (mark & MARK.types) | ((mark & MARK.trait) >> 3);
}

export function refusal(message: string, path: string, next: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', message, { path, details: { reason: 'invalid_query', next } });
}

function parse(input: Where): Where {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue?.code === 'unrecognized_keys') {
    const known = 'type, type_in, name_like, file_glob, exported, container, language, has_doc, test, calls';
    throw refusal(`Unknown word in where: ${issue.keys.join(', ')}`, 'where', `one of ${known}`);
  }
  const path = ['where', ...(issue?.path ?? [])].join('.');
  throw refusal(`Query is not valid: ${issue?.message ?? 'unknown'}`, path, `types are ${TYPE_WORDS.join(', ')}`);
}

/** `type` and `type_in` both narrow: what passes must be in each that is given. */
function typeSet({ type, type_in: anyOf }: Where): Uint8Array | undefined {
  const lists = [type === undefined ? undefined : [type], anyOf].filter((list) => list !== undefined);
  if (lists.length === 0) return undefined;
  const passes = new Uint8Array(2 * TRAIT_PLACE);
  const sets = lists.map(placesOf);
  for (let place = 0; place < passes.length; place++) {
    passes[place] = sets.every((set) => set.has(place)) ? 1 : 0;
  }
  return passes;
}

function placesOf(types: readonly string[]): Set<number> {
  const interfacePlace = placeOfType('interface') ?? 0;
  return new Set(
    types.flatMap((type) => {
      if (type === 'trait') return [interfacePlace | TRAIT_PLACE];
      const alias = Object.entries(TYPE_ALIASES).find(([word]) => word === type)?.[1];
      const place = placeOfType(alias ?? type) ?? 0;
      return [place, place | TRAIT_PLACE];
    }),
  );
}

function pathTest(glob: string): PathTest {
  const test = compileGlobs([glob]);
  const [literal = ''] = /^[^*?[\]{}\\]*/.exec(glob.replace(/^(?:\.\/)+/, '')) ?? [];
  return { glob, prefix: literal, test };
}

/** Names with `*` and `?`. Everything else matches itself, and time stays linear in pattern × name. */
interface WildPattern {
  /** The pattern itself when it has no wildcard. */
  readonly literal: string | undefined;
  test(text: string): boolean;
}

export function wildPattern(pattern: string): WildPattern {
  if (!/[*?]/.test(pattern)) return { literal: pattern, test: (text) => text === pattern };
  return { literal: undefined, test: simpleTest(pattern) ?? ((text) => matches([...pattern], [...text])) };
}

/** The usual forms, `a*`, `*a`, `*a*` and `*`, as one string operation. */
function simpleTest(pattern: string): ((text: string) => boolean) | undefined {
  const [, head = '', core = '', tail = ''] = /^(\*?)([^*?]*)(\*?)$/.exec(pattern) ?? [];
  if (head === '' && tail === '') return undefined;
  if (head === '') return (text) => text.startsWith(core);
  if (tail === '' && core !== '') return (text) => text.endsWith(core);
  return (text) => text.includes(core);
}

/** Goes back to the last star only: an earlier one can never do better. */
function matches(pattern: readonly string[], text: readonly string[]): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  for (let index = 0; index < text.length; ) {
    if (pattern[at] === '*') {
      star = at++;
      resume = index;
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === text[index])) {
      at++;
      index++;
    } else if (star === -1) return false;
    else {
      at = star + 1;
      index = ++resume;
    }
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}
