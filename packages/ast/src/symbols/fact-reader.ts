/**
 * Turns a parsed file into its facts: one run of the language's symbols query, then sorted passes over what it caught.
 *
 * Nothing here knows a language: what differs between them is in the query and in the profile.
 */
import { ToolError } from '@tool-runtime/protocol';
import type { Query } from 'web-tree-sitter';
import { type FileFacts, type ImportFact, NODE_TYPES, type RefFact } from '../contracts/facts.ts';
import { refuseGrammar } from '../parse/grammar-store.ts';
import { PARSE_LIMITS, startTimeLimit, type TimeLimitOptions } from '../parse/limits.ts';
import type { ParsedSource, SourceParser } from '../parse/source-parser.ts';
import type { SourceText } from '../parse/source-text.ts';
import { collectRaw } from './collect-raw.ts';
import { createOpenExtents, findOwners } from './extents.ts';
import { isGenerated } from './is-generated.ts';
import { joinImports, splitImportTree } from './join-imports.ts';
import { nestDeclarations } from './nest-declarations.ts';
import { placeDeclarations } from './place-declarations.ts';
import { compilePolicies, type Policies } from './policies.ts';
import type { EmbeddedPart, Extent, RawFacts, RawImport, RawRef } from './raw-facts.ts';
import { readNodes } from './read-nodes.ts';
import { readProblems } from './read-problems.ts';

export interface ReadOptions extends Omit<TimeLimitOptions, 'path'> {
  /** Told of the parts in other languages, whose facts are not among the answer. */
  onParts?(parts: readonly EmbeddedPart[]): void;
}

export interface FactReader {
  /**
   * `path` is the workspace-relative path: part of every id. Throws E_AST_PARSE with `reason` `too_many_symbols`, and
   * as a time limit does.
   */
  read(parsed: ParsedSource, path: string, options?: ReadOptions): FileFacts;
}

/** Throws E_AST_PARSE when the language's symbols query uses an unknown capture. */
export function createFactReader(parser: SourceParser, maxSymbols: number = PARSE_LIMITS.maxSymbols): FactReader {
  checkCaptures(parser.profile.grammar, parser.queries.symbols);
  const policies = compilePolicies(parser.profile);
  return {
    read(parsed, path, { onParts, ...options } = {}) {
      const { source } = parsed;
      const raw = collectRaw(parsed, startTimeLimit({ ...options, path }));
      if (raw.parts.length > 0) onParts?.(raw.parts);
      const isTestFile = policies.test.paths.test(path);
      const nested = nestDeclarations(raw, policies);
      if (nested.length > maxSymbols) throw tooManySymbols(path);
      const { imports, exportNames } = joinImports(raw);
      const placed = placeDeclarations({ raw, nested, exportNames, text: source.text, policies, isTestFile });
      return {
        language: parser.language,
        nodes: readNodes(placed, source, path),
        refs: readRefs(raw, placed, source),
        imports: readImports(imports, source, policies),
        ...readProblems(parsed),
        generated: isGenerated(path, source.text),
        library: !isTestFile && !policies.notLibrary.test(path),
      };
    },
  };
}

function tooManySymbols(path: string): ToolError {
  return new ToolError('E_AST_PARSE', `File declares too many symbols: ${path}`, {
    path,
    details: { reason: 'too_many_symbols' },
  });
}

const DECLARATION_TYPES = new Set<string>([...NODE_TYPES, 'trait']);

/** The capture names a symbols query may use. The list is closed, so that a misspelt name is refused and not ignored. */
const ROLES = new Set([
  'name',
  'body',
  'head',
  'params',
  'returns',
  'container',
  'subtype',
  'statement',
  'local',
  'lift',
  'bind',
  'vis',
  'section',
  'hide.name',
  'attr',
  'comment',
  'doc',
  'export',
  'export.name',
  'export.list',
  'ref.call',
  'ref.macro',
  'ref.new',
  'opaque.call',
  'opaque.macro',
  'import',
  'import.source',
  'import.name',
  'import.alias',
  'import.star',
  'import.type',
  'import.reexport',
  'import.tree',
  'embedded',
]);

/** Names that start with an underscore are the query's own, for its predicates. */
function checkCaptures(grammar: string, query: Query): void {
  const unknown = query.captureNames.find(
    (name) =>
      !name.startsWith('_') && !ROLES.has(name) && !(name.startsWith('def.') && DECLARATION_TYPES.has(name.slice(4))),
  );
  if (unknown !== undefined) {
    throw refuseGrammar(grammar, 'query_mismatch', `symbols.scm has an unknown capture @${unknown}`);
  }
}

/** Import facts from what the query caught, including import expressions that mean several imports. */
function readImports(joined: readonly RawImport[], source: SourceText, policies: Policies): ImportFact[] {
  return joined
    .flatMap((one) => expand(one, policies))
    .sort((left, right) => left.start - right.start)
    .map((one) => toFact(one, source));
}

function expand(one: RawImport, { imports }: Policies): RawImport[] {
  if (one.tree === undefined || imports === undefined) return [one];
  if (one.star) return [{ ...one, source: one.tree }];
  return splitImportTree(one.tree, imports).map((part) => ({ ...one, ...part, alias: part.alias ?? one.alias }));
}

/** Optional fields are set one by one: spreading them costs as much as all the rest. */
function toFact(one: RawImport, source: SourceText): ImportFact {
  const fact: { -readonly [Key in keyof ImportFact]: ImportFact[Key] } = {
    source: one.source ?? '',
    start: source.toByte(one.start),
    line: source.rowOf(one.start) + 1,
  };
  if (one.name !== undefined) fact.name = one.name;
  if (one.alias !== undefined) fact.alias = one.alias;
  if (one.star) fact.star = true;
  if (one.typeOnly) fact.typeOnly = true;
  if (one.reexport) fact.reexport = true;
  return fact;
}

/** Calls, instantiations and macro calls, each with the declaration that contains it. `nodes` are in file order. */
function readRefs(raw: RawFacts, nodes: readonly Extent[], source: SourceText): RefFact[] {
  const sorted = withoutAttributeTokens(
    raw.refs.toSorted((left, right) => left.start - right.start),
    raw,
  );
  const owners = findOwners(
    nodes,
    sorted.map((one) => one.start),
  );
  return sorted.map(({ kind, name, start, opaque }, index) => {
    const line = source.rowOf(start) + 1;
    const fact: RefFact = { kind, name, start: source.toByte(start), line, node: owners[index] ?? -1 };
    return opaque ? { ...fact, opaque: true } : fact;
  });
}

/** Tokens of an attribute look like calls (`cfg(all(unix))`) but are not. */
function withoutAttributeTokens(sorted: readonly RawRef[], raw: RawFacts): readonly RawRef[] {
  if (!sorted.some((one) => one.opaque)) return sorted;
  const attributes = createOpenExtents(raw.preludes.filter((one) => one.kind === 'attr'));
  return sorted.filter((one) => !one.opaque || attributes.around(one, -1).length === 0);
}
