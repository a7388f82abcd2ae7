/**
 * Parses the files of one language. Trees live outside the JavaScript heap and nothing frees them but `delete()`:
 * the caller owns the `ParsedSource` it gets. One parser serves one thread; every call finishes before the next begins.
 */
import { type Language, Parser, Query, type Tree } from 'web-tree-sitter';
import type { LoadedProfile } from '../profile/load-profile.ts';
import type { LanguageProfile } from '../profile/profile.ts';
import { editBetween } from './edit-between.ts';
import { refuseGrammar } from './grammar-store.ts';
import { startTimeLimit, type TimeLimit, type TimeLimitOptions } from './limits.ts';
import type { SourceText } from './source-text.ts';

export interface ParsedSource {
  readonly source: SourceText;
  readonly tree: Tree;
  readonly parser: SourceParser;
  /** Words the grammar does not know were covered for this tree, so no later parse may reuse parts of it. */
  readonly isCovered: boolean;
  /** Frees the tree; its nodes are unusable afterwards. */
  delete(): void;
}

export interface ParseOptions extends TimeLimitOptions {
  /** An earlier parse of the same file, which stays the caller's: parts of it are reused. */
  readonly previous?: ParsedSource;
}

export interface LanguageQueries {
  readonly symbols: Query;
  readonly locals: Query | undefined;
  /** `@error` and `@missing` nodes. */
  readonly problems: Query;
}

export interface SourceParser {
  readonly language: string;
  readonly profile: LanguageProfile;
  /** Changes when the grammar, the profile or a query does: part of the cache key of everything derived from a parse. */
  readonly digest: string;
  readonly queries: LanguageQueries;
  /** Throws as a time limit does (E_TIMEOUT, or what the signal says). The parser stays usable. */
  parse(source: SourceText, options?: ParseOptions): ParsedSource;
  /** Compiles a further query; the caller deletes it. Throws TypeError for one that does not fit the grammar. */
  compile(query: string): Query;
  delete(): void;
}

const PROBLEMS = '(ERROR) @error\n(MISSING) @missing\n';

export function createSourceParser(language: Language, loaded: LoadedProfile, grammarSha256: string): SourceParser {
  const { queries, deleteQueries } = compileQueries(language, loaded);
  const engine = new Parser().setLanguage(language);
  const parser: SourceParser = {
    language: loaded.profile.id,
    profile: loaded.profile,
    digest: `${grammarSha256.slice(0, 16)}-${loaded.digest.slice(0, 16)}`,
    queries,
    parse(source, options = {}) {
      const { previous, ...limits } = options;
      const limit = startTimeLimit(limits);
      const usable = previous?.isCovered === true ? undefined : previous;
      const plain = parseTree(engine, source.text, limit, usable && (() => editedCopy(usable, source)));
      const covered = plain.rootNode.hasError ? parseCovered(engine, parser.language, source.text, limit) : undefined;
      if (covered !== undefined) plain.delete();
      const tree = covered ?? plain;
      return { source, tree, parser, isCovered: covered !== undefined, delete: () => tree.delete() };
    },
    compile: (query) => new Query(language, query),
    delete() {
      deleteQueries();
      engine.delete();
    },
  };
  return parser;
}

/** Those that indexing does not need are compiled on first use: each takes as long as parsing some hundred kilobytes. */
function compileQueries(language: Language, { profile, symbolsQuery, localsQuery }: LoadedProfile) {
  const compiled: Query[] = [];
  const compile = (file: string, text: string): Query => {
    try {
      const query = new Query(language, text);
      compiled.push(query);
      return query;
    } catch (cause) {
      const why = `${profile.id}/${file} does not fit it (${cause instanceof Error ? cause.message : 'unknown'})`;
      throw refuseGrammar(profile.grammar, 'query_mismatch', why, cause);
    }
  };
  const symbols = compile('symbols.scm', symbolsQuery);
  let [locals, problems]: (Query | undefined)[] = [];
  const queries: LanguageQueries = {
    symbols,
    get locals() {
      if (localsQuery !== undefined) locals ??= compile('locals.scm', localsQuery);
      return locals;
    },
    get problems() {
      problems ??= compile('problems', PROBLEMS);
      return problems;
    },
  };
  const deleteQueries = (): void => {
    for (const query of compiled.splice(0)) query.delete();
  };
  return { queries, deleteQueries };
}

function parseTree(engine: Parser, text: string, limit: TimeLimit, earlier?: () => Tree): Tree {
  if (limit.isOver()) limit.refuse();
  const edited = earlier?.();
  try {
    const tree = engine.parse(text, edited ?? null, { progressCallback: () => limit.isOver() });
    if (tree !== null) return tree;
  } finally {
    edited?.delete();
  }
  // Without this the next parse would go on where this one stopped, in another text.
  engine.reset();
  return limit.refuse();
}

/** The tree of a text whose only errors are words the grammar does not know; undefined for every other text. */
function parseCovered(engine: Parser, language: string, text: string, limit: TimeLimit): Tree | undefined {
  const covered = coverGaps(language, text);
  if (covered === undefined) return undefined;
  const tree = parseTree(engine, covered, limit);
  if (!tree.rootNode.hasError) return tree;
  tree.delete();
  return undefined;
}

function editedCopy(previous: ParsedSource, source: SourceText): Tree {
  const copy = previous.tree.copy();
  const edit = editBetween(previous.source, source);
  if (edit !== undefined) copy.edit(edit);
  return copy;
}

interface Gap {
  readonly find: RegExp;
  /** As long as what was found, with line breaks where they were. */
  cover(found: string): string;
}

const blank = (found: string): string => found.replace(/\S/g, ' ');

const TYPESCRIPT: readonly Gap[] = [
  // export type * from './a': TypeScript 5.0
  { find: /(?<=\bexport\s+)type(?=\s+\*)/g, cover: blank },
  // interface Box<in out T>: TypeScript 4.7
  {
    find: /(?<=\b(?:interface|class|type)\s+[\w$]+\s*<(?:[^<>(){};]*,)?\s*)(?:(?:in|out)\s+){1,2}(?=[\p{ID_Start}$_])/gu,
    cover: blank,
  },
  // Call signatures that end with their line: a semicolon takes the place of one blank before the next.
  { find: /(?<=[\w$>\])}"'][ \t]*\r?\n)[ \t](?=[ \t]*<)/g, cover: () => ';' },
];

/** The last member of a body on one line: a semicolon takes the place of the blank before the brace. */
const KOTLIN: readonly Gap[] = [{ find: /(?<=[^\s{;][ \t]*)[ \t](?=\})/g, cover: () => ';' }];

const GAPS: Readonly<Record<string, readonly Gap[]>> = {
  typescript: TYPESCRIPT,
  tsx: TYPESCRIPT.slice(0, 2),
  kotlin: KOTLIN,
};

/**
 * Sound code that a grammar reports as broken, because the language grew after the grammar. The words it does not know
 * are covered, character for character, and the rest is parsed: places and names stay as they are in the file.
 *
 * Only words without meaning for declarations and references may be covered.
 *
 * The text with what the grammar does not know covered; undefined when it has nothing of that kind.
 */
function coverGaps(language: string, text: string): string | undefined {
  let covered = text;
  for (const { find, cover } of GAPS[language] ?? []) covered = covered.replace(find, cover);
  return covered === text ? undefined : covered;
}
