/** Puts together what several patterns said about one import, and tells export lists from re-exports, by position. */
import { createOpenExtents } from './open-extents.ts';
import type { RawFacts, RawImport } from './raw-facts.ts';
import { unquote } from './unquote.ts';

export interface JoinedImports {
  /** One for each imported name, or one for the whole module. */
  readonly imports: readonly RawImport[];
  /** Names in export lists that are not re-exports of another module. */
  readonly exportNames: ReadonlySet<string>;
}

export function joinImports(raw: RawFacts): JoinedImports {
  const wholes = mergeWholes(raw.imports.filter(isWhole));
  const parts = raw.imports.filter((one) => !isWhole(one));
  const byWhole = new Map<RawImport, RawImport[]>(wholes.map((one) => [one, []]));
  const open = createOpenExtents(wholes);
  for (const part of parts.sort((left, right) => left.start - right.start)) {
    const [whole] = open.around(part, -1);
    if (whole !== undefined) byWhole.get(whole)?.push(merge(whole, part));
  }
  return {
    imports: [...byWhole].flatMap(([whole, merged]) => (merged.length === 0 ? [whole] : merged)),
    exportNames: ownExportNames(raw, wholes),
  };
}

function isWhole(one: RawImport): boolean {
  return one.source !== undefined || one.tree !== undefined;
}

/** A second pattern for the same statement only adds to the first. */
function mergeWholes(wholes: readonly RawImport[]): RawImport[] {
  const byPlace = new Map<string, RawImport>();
  for (const one of wholes) {
    const place = `${one.start} ${one.source ?? one.tree}`;
    const known = byPlace.get(place);
    byPlace.set(place, known === undefined ? one : merge(known, one));
  }
  return [...byPlace.values()];
}

function merge(whole: RawImport, part: RawImport): RawImport {
  return {
    ...whole,
    name: part.name ?? whole.name,
    alias: part.alias ?? whole.alias,
    star: part.star || whole.star,
    typeOnly: part.typeOnly || whole.typeOnly,
    reexport: part.reexport || whole.reexport,
  };
}

function ownExportNames(raw: RawFacts, wholes: readonly RawImport[]): Set<string> {
  const open = createOpenExtents(wholes);
  const sorted = raw.exportNames.toSorted((left, right) => left.start - right.start);
  const names = sorted.filter((one) => open.around(one, -1).length === 0).map((one) => unquote(one.text).value);
  return new Set([...names, ...raw.exportLists.flatMap((one) => quotedIn(one.text))]);
}

/** Read as text: a list of thousands of strings would be as many matches of a query. */
function quotedIn(text: string): string[] {
  return [...text.matchAll(/(['"])([^'"\\\n]+)\1/g)].map((match) => match[2] ?? '');
}
