/**
 * Parses the files of one language. Trees live outside the JavaScript heap and nothing frees them but `delete()`:
 * the caller owns the `ParsedSource` it gets. One parser serves one thread; every call finishes before the next begins.
 */
import { type Language, Parser, Query, type Tree } from 'web-tree-sitter';
import { refuseGrammar } from '../grammar/refuse-grammar.ts';
import type { LoadedProfile } from '../profile/load-profile.ts';
import type { LanguageProfile } from '../profile/profile.ts';
import { editBetween } from './edit-between.ts';
import type { SourceText } from './source-text.ts';
import { startTimeLimit, type TimeLimitOptions } from './time-limit.ts';

export interface ParsedSource {
  readonly source: SourceText;
  readonly tree: Tree;
  readonly parser: SourceParser;
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
  const queries = compileQueries(language, loaded);
  const engine = new Parser().setLanguage(language);
  const parser: SourceParser = {
    language: loaded.profile.id,
    profile: loaded.profile,
    digest: `${grammarSha256.slice(0, 16)}-${loaded.digest.slice(0, 16)}`,
    queries,
    parse(source, options = {}) {
      const tree = parseTree(engine, source, options);
      return { source, tree, parser, delete: () => tree.delete() };
    },
    compile: (query) => new Query(language, query),
    delete() {
      for (const query of [queries.symbols, queries.locals, queries.problems]) query?.delete();
      engine.delete();
    },
  };
  return parser;
}

function compileQueries(language: Language, { profile, symbolsQuery, localsQuery }: LoadedProfile): LanguageQueries {
  const compile = (file: string, text: string): Query => {
    try {
      return new Query(language, text);
    } catch (cause) {
      const why = `${profile.id}/${file} does not fit it (${cause instanceof Error ? cause.message : 'unknown'})`;
      throw refuseGrammar(profile.grammar, 'query_mismatch', why, cause);
    }
  };
  return {
    symbols: compile('symbols.scm', symbolsQuery),
    locals: localsQuery === undefined ? undefined : compile('locals.scm', localsQuery),
    problems: compile('problems', PROBLEMS),
  };
}

function parseTree(engine: Parser, source: SourceText, options: ParseOptions): Tree {
  const { previous } = options;
  const limit = startTimeLimit(options);
  if (limit.isOver()) limit.refuse();
  const edited = previous === undefined ? undefined : editedCopy(previous, source);
  try {
    const tree = engine.parse(source.text, edited ?? null, { progressCallback: () => limit.isOver() });
    if (tree !== null) return tree;
  } finally {
    edited?.delete();
  }
  // Without this the next parse would go on where this one stopped, in another text.
  engine.reset();
  return limit.refuse();
}

function editedCopy(previous: ParsedSource, source: SourceText): Tree {
  const copy = previous.tree.copy();
  const edit = editBetween(previous.source, source);
  if (edit !== undefined) copy.edit(edit);
  return copy;
}
