/** Places that a code pattern matches, in the files that are asked for. Nothing is changed. */
import { isToolError, ToolError } from '@tool-runtime/protocol';
import { compileGlobs } from '@tool-runtime/sdk';
import type { CodeIndex } from '../../contracts/code-index-contract.ts';
import { createEditProfiles } from '../../edit/edit-profile.ts';
import { decodeSource, type SourceText } from '../../parse/source-text.ts';
import type { CodeServices } from '../../plugin/code-services.ts';
import { createPatternMatcher, type PatternMatch } from '../../rewrite/pattern-matcher.ts';
import type { AnswerMatch } from './answer-schema.ts';
import type { NodesAnswer, ViewRequest } from './query-views.ts';

export interface MatchAnswer extends NodesAnswer {
  readonly matches: AnswerMatch[];
}

const SHOWN_CHARACTERS = 300;

/** Throws E_VALIDATION_FAIL without pattern or language, E_AST_EDIT with `bad_pattern`. */
export async function matchView(
  services: CodeServices,
  { where, limit, offset, signal }: ViewRequest,
  pattern: string | undefined,
): Promise<MatchAnswer> {
  const { language, file_glob: glob } = where;
  if (pattern === undefined) throw missing('pattern', 'Matches of what is not said', 'give pattern, such as foo($A)');
  if (language === undefined) {
    throw missing('where.language', 'Pattern needs its language', 'give where.language, such as typescript');
  }
  const [index, engine, memory] = [await services.index(), await services.engine(), await services.memory()];
  await engine.parserFor(language);
  const patterns = memory.patterns(() => createPatternMatcher(engine, createEditProfiles()));
  const isWanted = glob === undefined ? () => true : compileGlobs([glob]);
  const matches: AnswerMatch[] = [];
  for (const file of index.files()) {
    signal.throwIfAborted();
    if (!isWanted(file) || index.fileRow(file)?.language !== language) continue;
    const source = await readSource(file, services);
    if (source === undefined) continue;
    const found = await patterns.match(source.text, { language, pattern, constraints: {} });
    if (found.length > 0) matches.push(...(await placed(found, { file, source, index })));
    if (matches.length > offset + limit) break;
  }
  const truncated = matches.length > offset + limit;
  return { nodes: [], matches: matches.slice(offset, offset + limit), truncated };
}

interface Place {
  readonly file: string;
  readonly source: SourceText;
  readonly index: CodeIndex;
}

async function placed(found: readonly PatternMatch[], { file, source, index }: Place): Promise<AnswerMatch[]> {
  const nodes = await index.nodesOfFile(file);
  return found.map(({ start, end, captures }) => {
    const [row, byte] = [source.rowOf(start), source.toByte(start)];
    const owner = nodes.findLast(({ span }) => span.start <= byte && byte < span.end);
    const named = [...captures].flatMap(([name, range]) =>
      range === undefined ? [] : [[name, shown(source, range)] as const],
    );
    return {
      ...{ file, line: row + 1, col: start - source.lineStart(row) + 1, end_line: source.rowOf(end) + 1 },
      text: shown(source, { start, end }),
      ...(named.length === 0 ? {} : { captures: Object.fromEntries(named) }),
      ...(owner === undefined ? {} : { node_id: owner.id }),
    };
  });
}

function shown({ text }: SourceText, { start, end }: { readonly start: number; readonly end: number }): string {
  return text.slice(start, Math.min(end, start + SHOWN_CHARACTERS));
}

/** Undefined for a file that is gone, too large or no text. */
async function readSource(file: string, { ports }: CodeServices): Promise<SourceText | undefined> {
  try {
    return decodeSource((await ports.workspace.readFile(file)).bytes, file);
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    return undefined;
  }
}

function missing(path: string, message: string, next: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', message, { path, details: { reason: 'invalid_query', next } });
}
