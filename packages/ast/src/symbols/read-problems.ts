/**
 * Where the text of a file is broken. A tree without errors is not searched; one with errors counts only where a second
 * parser of the language, if there is one, agrees.
 */
import type { Node } from 'web-tree-sitter';
import type { ProblemFact } from '../contracts/facts.ts';
import { type Opinion, secondOpinion } from '../parse/second-opinion.ts';
import type { ParsedSource } from '../parse/source-parser.ts';
import type { SourceText } from '../parse/source-text.ts';

const MAX_PROBLEMS = 50;
const MAX_QUOTE = 40;
const NONE: Problems = { problems: [], problemCount: 0 };

export interface Problems {
  readonly problems: readonly ProblemFact[];
  readonly problemCount: number;
}

/** The tree is read now and may go. The second parser takes longer than the first, so it is asked when someone wants to know. */
export function readProblems({ tree, source, parser, isCovered }: ParsedSource): Problems {
  const root = tree.rootNode;
  if (!root.hasError && !isCovered) return NONE;
  const found = isCovered ? [] : findBroken(root);
  const problems = found.slice(0, MAX_PROBLEMS).map((node) => problemOf(source, node));
  let judged: Problems | undefined;
  const judge = (): Problems => {
    const opinion = secondOpinion(parser.language, source.text);
    if (opinion?.isSound === true) return NONE;
    const stated = opinion === undefined ? undefined : statedProblem(source, opinion);
    // Words were covered to get a sound tree: the second parser alone decides.
    if (isCovered) return stated === undefined ? NONE : { problems: [stated], problemCount: 1 };
    const all = stated === undefined ? problems : putFirst(stated, problems);
    return { problems: all, problemCount: found.length };
  };
  return {
    get problems() {
      judged ??= judge();
      return judged.problems;
    },
    get problemCount() {
      judged ??= judge();
      return judged.problemCount;
    },
  };
}

/** The second parser knows the first bad token; the grammar often only where the broken declaration begins. */
function statedProblem(source: SourceText, opinion: Opinion): ProblemFact | undefined {
  if (opinion.isSound || opinion.line === undefined) return undefined;
  const { message, line, col = 1 } = opinion;
  const start = source.lineStart(line - 1) + col - 1;
  const length = /^(?:[\p{ID_Continue}$]+|\S)?/u.exec(source.text.slice(start, start + MAX_QUOTE))?.[0].length ?? 0;
  const span = { start: source.toByte(start), end: source.toByte(start + length) };
  return { kind: 'error', span, line, col, message };
}

function putFirst(first: ProblemFact, problems: readonly ProblemFact[]): readonly ProblemFact[] {
  return [first, ...problems.filter(({ line }) => line > first.line)].slice(0, MAX_PROBLEMS);
}

/** In file order, outer before inner. A query would go through the whole tree, whose sound parts are most of it. */
function findBroken(root: Node): Node[] {
  const found: Node[] = [];
  const left = [root];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (node.isMissing || (node.isError && node.endIndex > node.startIndex)) found.push(node);
    if (node.childCount === 0) continue;
    for (const child of node.children.toReversed()) if (child.hasError || child.isError) left.push(child);
  }
  return found;
}

function problemOf(source: SourceText, node: Node): ProblemFact {
  const kind = node.isMissing ? 'missing' : 'error';
  const { startIndex, startPosition } = firstBad(node);
  const { endIndex } = node;
  const quote = source.text
    .slice(startIndex, Math.min(endIndex, startIndex + MAX_QUOTE))
    .replace(/\s+/g, ' ')
    .trim();
  return {
    kind,
    span: { start: source.toByte(startIndex), end: source.toByte(endIndex) },
    line: startPosition.row + 1,
    col: startPosition.column + 1,
    message: kind === 'missing' ? `Missing: ${node.type}` : `Not understood: ${quote}`,
  };
}

/** An error that swallowed whole declarations begins after the last of them that parsed. */
function firstBad(node: Node): Node {
  const children = node.isError ? node.children : [];
  const bad = children.findIndex((child, at) => {
    if (child.isExtra) return false;
    const next = children[at + 1];
    const isWhole = child.isNamed && child.childCount > 0 && !child.hasError;
    return !isWhole || next === undefined || next.startPosition.row === child.endPosition.row;
  });
  const first = children[bad];
  return first === undefined || first.startIndex < node.startIndex ? node : first;
}
