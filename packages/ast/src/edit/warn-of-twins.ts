/** Says when an insertion declares what its container declares already: callers may have meant to replace it. */
import type { NodeFact } from '../contracts/facts.ts';
import type { Draft } from './draft.ts';

export function warnOfTwins(
  { facts, path }: Draft,
  before: readonly NodeFact[],
  warn: (warning: string) => void,
): void {
  const known = new Set(before.map(({ id }) => id));
  const key = ({ type, container, name }: NodeFact) => `${type}\0${container}\0${name}`;
  const keys = new Set(before.map(key));
  for (const node of facts.nodes) {
    if (!known.has(node.id) && keys.has(key(node))) warn(`declared twice now: ${node.name} in ${path}`);
  }
}
