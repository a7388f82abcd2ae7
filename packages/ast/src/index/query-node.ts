/** One declaration of a file in the form tools answer with. */
import type { QueryNode } from '../contracts/code-index-contract.ts';
import { MARK, NONE, typeOfMark } from './facts-layout.ts';
import type { FactsView } from './facts-view.ts';

export interface NodeOrigin {
  readonly path: string;
  readonly language: string;
}

/** Optional fields are set only where they say something, so that equal nodes are equal in JSON too. */
export function queryNode(view: FactsView, node: number, { path, language }: NodeOrigin): QueryNode {
  const mark = view.number(node, 'mark');
  const answer: { -readonly [Key in keyof QueryNode]: QueryNode[Key] } = {
    id: view.text(node, 'id'),
    rev: view.text(node, 'rev'),
    type: typeOfMark(mark),
    name: view.text(node, 'name'),
    container: view.text(node, 'container'),
    file: path,
    language,
    exported: (mark & MARK.exported) !== 0,
    has_doc: (mark & MARK.hasDoc) !== 0,
    test: (mark & MARK.test) !== 0,
    span: view.span(node, 'span'),
    line: view.number(node, 'line'),
    col: view.number(node, 'col'),
    end_line: view.number(node, 'endLine'),
    end_col: view.number(node, 'endCol'),
    name_span: view.span(node, 'nameSpan'),
    full_span: view.span(node, 'fullSpan'),
    signature: view.text(node, 'signature'),
  };
  const subtype = view.text(node, 'subtype');
  if (subtype !== '') answer.subtype = subtype;
  if (view.generated) answer.generated = true;
  if (view.number(node, 'bodySpan') !== NONE) answer.body_span = view.span(node, 'bodySpan');
  return answer;
}
