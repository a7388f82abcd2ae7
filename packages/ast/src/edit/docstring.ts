/** The string at the start of a body that documents the declaration, in languages that have such. */
import type { NodeFact } from '../contracts/facts.ts';
import type { Draft } from './draft.ts';
import { bodyNode, parts } from './syntax-node.ts';

/** Range in UTF-16 units of the whole statement. */
export function docstringOf(
  draft: Draft,
  node: NodeFact,
): { readonly start: number; readonly end: number } | undefined {
  if (draft.profile.doc.by !== 'docstring') return undefined;
  const body = bodyNode(draft, node);
  const first = body === undefined ? undefined : parts(body, draft)[0];
  if (first === undefined || first.namedChildCount !== 1) return undefined;
  const inner = first.namedChild(0);
  const isString = inner !== null && draft.profile.kinds.string.includes(inner.type);
  return isString ? { start: first.startIndex, end: first.endIndex } : undefined;
}
