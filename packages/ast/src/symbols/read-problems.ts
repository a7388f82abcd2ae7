/**
 * Where the text of a file is broken. A tree without errors is not searched; one with errors counts only where a second
 * parser of the language, if there is one, agrees.
 */
import type { Node } from 'web-tree-sitter';
import type { ProblemFact } from '../contracts/facts.ts';
import { type Opinion, secondOpinion } from '../parse/second-opinion.ts';
import type { ParsedSource } from '../parse/source-parser.ts';

const MAX_PROBLEMS = 50;
const MAX_QUOTE = 40;

export interface Problems {
  readonly problems: readonly ProblemFact[];
  readonly problemCount: number;
}

export function readProblems(parsed: ParsedSource): Problems {
  const root = parsed.tree.rootNode;
  if (!root.hasError && !parsed.isCovered) return { problems: [], problemCount: 0 };
  const opinion = secondOpinion(parsed.parser.language, parsed.source.text);
  if (opinion?.isSound === true) return { problems: [], problemCount: 0 };
  if (parsed.isCovered) return coveredProblems(parsed, opinion);
  const found = findBroken(root);
  const problems = found.slice(0, MAX_PROBLEMS).map((node) => problemOf(parsed, node));
  const first = opinion === undefined ? undefined : statedProblem(parsed, opinion);
  return { problems: first === undefined ? problems : putFirst(first, problems), problemCount: found.length };
}

/** Words were covered to get a sound tree; where there is a second parser, it has the last word. */
function coveredProblems(parsed: ParsedSource, opinion: Opinion | undefined): Problems {
  const stated = opinion === undefined ? undefined : statedProblem(parsed, opinion);
  return stated === undefined ? { problems: [], problemCount: 0 } : { problems: [stated], problemCount: 1 };
}

/** The second parser knows the first bad token; the grammar often only where the broken declaration begins. */
function statedProblem({ source }: ParsedSource, opinion: Opinion): ProblemFact | undefined {
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

function problemOf({ source }: ParsedSource, node: Node): ProblemFact {
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
