/**
 * Turns a parsed file into its facts: one run of the language's symbols query, then sorted passes over what it caught.
 *
 * Nothing here knows a language: what differs between them is in the query and in the profile.
 */
import { ToolError } from '@tool-runtime/protocol';
import type { FileFacts } from '../contracts/facts.ts';
import { PARSE_LIMITS } from '../parse/limits.ts';
import type { ParsedSource, SourceParser } from '../parse/source-parser.ts';
import { startTimeLimit, type TimeLimitOptions } from '../parse/time-limit.ts';
import { checkCaptures } from './capture-roles.ts';
import { collectRaw } from './collect-raw.ts';
import { isGenerated } from './is-generated.ts';
import { joinImports } from './join-imports.ts';
import { nestDeclarations } from './nest-declarations.ts';
import { placeDeclarations } from './place-declarations.ts';
import { compilePolicies } from './policies.ts';
import { readImports } from './read-imports.ts';
import { readNodes } from './read-nodes.ts';
import { readProblems } from './read-problems.ts';
import { readRefs } from './read-refs.ts';

export interface FactReader {
  /**
   * `path` is the workspace-relative path: part of every id. Throws E_AST_PARSE with `reason` `too_many_symbols`, and
   * as a time limit does.
   */
  read(parsed: ParsedSource, path: string, options?: Omit<TimeLimitOptions, 'path'>): FileFacts;
}

/** Throws E_AST_PARSE when the language's symbols query uses a capture nobody knows. */
export function createFactReader(parser: SourceParser, maxSymbols: number = PARSE_LIMITS.maxSymbols): FactReader {
  checkCaptures(parser.profile.grammar, parser.queries.symbols);
  const policies = compilePolicies(parser.profile);
  return {
    read(parsed, path, options = {}) {
      const { source } = parsed;
      const raw = collectRaw(parsed, startTimeLimit({ ...options, path }));
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
