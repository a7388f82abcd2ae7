/** Import facts from what the query caught, including import expressions that stand for several imports. */
import type { ImportFact } from '../contracts/facts.ts';
import type { SourceText } from '../parse/source-text.ts';
import type { Policies } from './policies.ts';
import type { RawImport } from './raw-facts.ts';
import { splitImportTree } from './split-import-tree.ts';

export function readImports(joined: readonly RawImport[], source: SourceText, policies: Policies): ImportFact[] {
  return joined
    .flatMap((one) => expand(one, policies))
    .sort((left, right) => left.start - right.start)
    .map((one) => toFact(one, source));
}

function expand(one: RawImport, { imports }: Policies): RawImport[] {
  if (one.tree === undefined || imports === undefined) return [one];
  if (one.star) return [{ ...one, source: one.tree }];
  return splitImportTree(one.tree, imports).map((part) => ({ ...one, ...part, alias: part.alias ?? one.alias }));
}

function toFact(one: RawImport, source: SourceText): ImportFact {
  return {
    source: one.source ?? '',
    ...(one.name === undefined ? {} : { name: one.name }),
    ...(one.alias === undefined ? {} : { alias: one.alias }),
    ...(one.star ? { star: true } : {}),
    ...(one.typeOnly ? { typeOnly: true } : {}),
    ...(one.reexport ? { reexport: true } : {}),
    start: source.toByte(one.start),
    line: source.rowOf(one.start) + 1,
  };
}
