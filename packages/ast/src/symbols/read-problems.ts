/** Where the parser did not understand the text. A tree without errors is not searched. */
import type { Node } from 'web-tree-sitter';
import type { ProblemFact } from '../contracts/facts.ts';
import type { ParsedSource } from '../parse/source-parser.ts';

const MAX_PROBLEMS = 50;
const MAX_QUOTE = 40;

export interface Problems {
  readonly problems: readonly ProblemFact[];
  readonly problemCount: number;
}

export function readProblems(parsed: ParsedSource): Problems {
  const root = parsed.tree.rootNode;
  if (!root.hasError) return { problems: [], problemCount: 0 };
  const found = findBroken(root);
  return { problems: found.slice(0, MAX_PROBLEMS).map((node) => problemOf(parsed, node)), problemCount: found.length };
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
  const { startIndex, endIndex, startPosition } = node;
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
