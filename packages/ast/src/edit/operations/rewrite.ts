/** Rewrites every match of a code pattern, over as many files as match. */
import { isToolError, type ToolError } from '@tool-runtime/protocol';
import { compileGlobs } from '@tool-runtime/sdk';
import { decodeSource } from '../../parse/source-text.ts';
import { type PatternMatch, type PatternQuery, variablesOf } from '../../rewrite/pattern-matcher.ts';
import { rewriteText } from '../../rewrite/rewrite-text.ts';
import { isGenerated } from '../../symbols/is-generated.ts';
import { commitEdits } from '../commit-edits.ts';
import type { Draft } from '../draft.ts';
import { refuseEdit } from '../edit-failures.ts';
import type { OperationOf } from '../edit-operations.ts';
import type { Residual } from '../edit-plan.ts';
import { frozenRowsOf } from '../syntax-node.ts';
import { indentAt } from '../text-style.ts';
import type { Planner, Work } from '../work.ts';

type Rewrite = OperationOf<'rewrite'>;

export const rewrite: Planner<'rewrite'> = async (operation, work) => {
  requireVariables(operation);
  await work.desk.parts.engine.parserFor(operation.language);
  const found = await matchAll(operation, work);
  const total = found.reduce((sum, { matches }) => sum + matches.length, 0);
  if (total === 0) throw noMatch(operation);
  if (total > operation.max_matches) throw tooMany(operation, total);
  const residual: Residual[] = [];
  for (const { path, matches } of found) {
    const draft = await work.desk.draft(path);
    const { text, style } = draft;
    const frozen = frozenRowsOf(draft.parsed, draft.profile.kinds.string);
    const edits = rewriteText(matches, {
      text,
      template: operation.replacement,
      newline: style.newline,
      indentAt: (offset) => indentAt(text, offset),
      isFrozen: (offset) => frozen.has(draft.source.rowOf(offset)),
    });
    commitEdits(draft, edits, { warn: work.warn, check: () => undefined });
    residual.push(...(await leftOver(draft, operation, work)));
  }
  if (residual.length > 0) work.warn(`${residual.length} places match the pattern after the rewrite`);
  return { confidence: 'tree', residual };
};

interface MatchedFile {
  readonly path: string;
  readonly matches: readonly PatternMatch[];
}

async function matchAll(operation: Rewrite, { desk, patterns, warn }: Work): Promise<readonly MatchedFile[]> {
  const { index, engine } = desk.parts;
  const isWanted = operation.paths.length === 0 ? () => true : compileGlobs(operation.paths);
  const words = literalWords(operation.pattern);
  const found: MatchedFile[] = [];
  let spared = 0;
  for (const path of desk.files.list()) {
    desk.throwIfAborted();
    if (!isWanted(path) || (index.fileRow(path)?.language ?? engine.detect(path)) !== operation.language) continue;
    const bytes = desk.files.read(path);
    if (bytes === undefined || !containsAll(bytes, words)) continue;
    const text = textOf(bytes, path);
    if (text === undefined) {
      warn(`Skipped, because it is too large or not text: ${path}`);
      continue;
    }
    const matches = await patterns.match(text, queryOf(operation));
    if (matches.length === 0) continue;
    if (isGenerated(path, text) && !operation.allow_generated) spared += matches.length;
    else found.push({ path, matches });
  }
  if (spared > 0) warn(`${spared} matches in generated or vendored files were left alone`);
  return found;
}

/** A file that only has the name of a source is skipped; the others are still rewritten. */
function textOf(bytes: Uint8Array, path: string): string | undefined {
  try {
    return decodeSource(bytes, path).text;
  } catch (thrown) {
    if (isToolError(thrown) && thrown.code === 'E_AST_PARSE') return undefined;
    throw thrown;
  }
}

function queryOf({ language, pattern, constraints }: Rewrite): PatternQuery {
  return { language, pattern, constraints };
}

/** Words of a pattern that must be in every file that matches. */
function literalWords(pattern: string): readonly Buffer[] {
  const bare = pattern.replace(/\$(?:\$\$)?[A-Z_][A-Z0-9_]*/g, ' ');
  return (bare.match(/[\p{ID_Start}_][\p{ID_Continue}]+/gu) ?? []).map((word) => Buffer.from(word));
}

function containsAll(bytes: Uint8Array, words: readonly Buffer[]): boolean {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return words.every((word) => buffer.includes(word));
}

async function leftOver(draft: Draft, operation: Rewrite, { patterns }: Work): Promise<readonly Residual[]> {
  const matches = await patterns.match(draft.text, queryOf(operation));
  return matches.map(({ start }) => {
    const row = draft.source.rowOf(start);
    return { file: draft.path, line: row + 1, col: start - draft.source.lineStart(row) + 1, kind: 'match' };
  });
}

function requireVariables({ pattern, replacement, constraints }: Rewrite): void {
  const known = new Set(variablesOf(pattern).map(({ name }) => name));
  const wanted = [...variablesOf(replacement).map(({ name }) => name), ...Object.keys(constraints)];
  const unknown = wanted.find((name) => !known.has(name));
  if (unknown === undefined) return;
  throw refuseEdit('unknown_variable', `Pattern has no such variable: $${unknown}`, {
    path: 'replacement',
    next: `use one of: ${[...known].map((name) => `$${name}`).join(', ') || 'none, the pattern has no variables'}`,
  });
}

function noMatch({ pattern }: Rewrite): ToolError {
  return refuseEdit('no_match', `Pattern matches nothing: ${pattern.slice(0, 80)}`, {
    path: 'pattern',
    next: 'try a smaller pattern, or another language or paths',
  });
}

function tooMany({ max_matches: most }: Rewrite, total: number): ToolError {
  return refuseEdit('too_many_matches', `Pattern matches ${total} places, more than ${most}`, {
    path: 'max_matches',
    next: 'narrow the pattern or the paths, or raise max_matches',
    details: { matches: total },
  });
}
