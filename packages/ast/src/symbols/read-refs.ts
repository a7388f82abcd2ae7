/** Reference facts: calls, instantiations and macro calls, each with the declaration it stands in. */
import type { RefFact } from '../contracts/facts.ts';
import type { SourceText } from '../parse/source-text.ts';
import { findOwners } from './find-owners.ts';
import { createOpenExtents } from './open-extents.ts';
import type { Extent, RawFacts, RawRef } from './raw-facts.ts';

/** `nodes` in file order. */
export function readRefs(raw: RawFacts, nodes: readonly Extent[], source: SourceText): RefFact[] {
  const sorted = withoutAttributeTokens(
    raw.refs.toSorted((left, right) => left.start - right.start),
    raw,
  );
  const owners = findOwners(
    nodes,
    sorted.map((one) => one.start),
  );
  return sorted.map(({ kind, name, start, opaque }, index) => {
    const line = source.rowOf(start) + 1;
    const fact: RefFact = { kind, name, start: source.toByte(start), line, node: owners[index] ?? -1 };
    return opaque ? { ...fact, opaque: true } : fact;
  });
}

/** Tokens of an attribute look like calls (`cfg(all(unix))`) but are none. */
function withoutAttributeTokens(sorted: readonly RawRef[], raw: RawFacts): readonly RawRef[] {
  if (!sorted.some((one) => one.opaque)) return sorted;
  const attributes = createOpenExtents(raw.preludes.filter((one) => one.kind === 'attr'));
  return sorted.filter((one) => !one.opaque || attributes.around(one, -1).length === 0);
}
