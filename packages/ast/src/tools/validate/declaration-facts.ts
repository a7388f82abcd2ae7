/** What only the tree of a file tells of its declarations: attributes, return types, comments that switch rules off. */
import type { Node } from 'web-tree-sitter';
import type { QueryNode } from '../../contracts/code-index-contract.ts';
import type { IgnoreMark } from '../../inspect/code-record.ts';
import { ignoreMarks } from '../../inspect/ignore-marks.ts';
import type { ParsedSource } from '../../parse/source-parser.ts';

export interface DeclarationFacts {
  hasAttribute(node: QueryNode, name: string): boolean;
  hasReturnType(node: QueryNode): boolean;
  /** First line of what belongs to the declaration, from 1. */
  firstLine(node: QueryNode): number;
  readonly marks: readonly IgnoreMark[];
}

/** Fields of a function's syntax node that hold its return type, under the name of each language. */
const RETURN_FIELDS = ['return_type', 'result', 'returns', 'type'];
/** For grammars without such a field: a type after the closing parenthesis. */
const RETURN_TEXT = /\)\s*(?:->|:)\s*[^\s{=][^()]*$/;
/** From a name up to the declaration it names. */
const MAX_PARENTS = 6;

/** Plain data: the tree may be freed afterwards. `nodes` are those that will be asked about. */
export function declarationFacts(parsed: ParsedSource, nodes: readonly QueryNode[]): DeclarationFacts {
  const { source, tree, parser } = parsed;
  const attributes = parser.queries.symbols
    .captures(tree.rootNode)
    .filter(({ name }) => name === 'attr')
    .map(({ node }) => ({ start: source.toByte(node.startIndex), end: source.toByte(node.endIndex), text: node.text }));
  const typed = new Set(nodes.filter((node) => returnsType(node, parsed)).map(({ id }) => id));
  const lines = new Map(nodes.map(({ id, full_span: { start } }) => [id, source.rowOf(source.toOffset(start)) + 1]));
  return {
    hasAttribute: ({ full_span, name_span }, name) =>
      attributes.some(
        ({ start, end, text }) => start >= full_span.start && end <= name_span.start && isAttribute(text, name),
      ),
    hasReturnType: ({ id }) => typed.has(id),
    firstLine: ({ id, line }) => lines.get(id) ?? line,
    marks: ignoreMarks(parsed),
  };
}

function returnsType(node: QueryNode, { source, tree }: ParsedSource): boolean {
  const [start, end] = [source.toOffset(node.span.start), source.toOffset(node.span.end)];
  let at: Node | null = tree.rootNode.descendantForIndex(source.toOffset(node.name_span.start));
  for (let up = 0; at !== null && up < MAX_PARENTS && at.startIndex >= start && at.endIndex <= end; up++) {
    const holders = [at, at.childForFieldName('value')];
    if (holders.some((holder) => RETURN_FIELDS.some((field) => holder?.childForFieldName(field) != null))) return true;
    at = at.parent;
  }
  return RETURN_TEXT.test(node.signature);
}

/** `#[tokio::test]`, `@Test` and `[Test]` are all `test` or `Test`; with arguments the text must begin like that. */
function isAttribute(text: string, name: string): boolean {
  const bare = text.replace(/^[\s#!@[]+/, '').replace(/\s+/g, '');
  const wanted = name.replace(/\s+/g, '');
  if (wanted.includes('(')) return bare.startsWith(wanted);
  const [own = ''] = /^[\p{L}\p{N}_$:.\\-]+/u.exec(bare) ?? [];
  return own === wanted || ['::', '.', '\\'].some((separator) => own.endsWith(separator + wanted));
}
