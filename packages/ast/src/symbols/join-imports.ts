/** Puts together what several patterns said about one import, and tells export lists from re-exports, by position. */
import { createOpenExtents } from './extents.ts';
import type { RawFacts, RawImport } from './raw-facts.ts';

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

interface ImportTreeForm {
  /** Between the parts of a path. */
  readonly separator: string;
  /** The word that means the path itself inside a group. */
  readonly self?: string | undefined;
}

interface ImportPart {
  readonly source: string;
  readonly name: string | undefined;
  readonly alias: string | undefined;
  readonly star: boolean;
}

/** Takes `a::b::{c, d as e, f::*}` apart: one part per imported name, with the path in front of it. */
export function splitImportTree(tree: string, form: ImportTreeForm): ImportPart[] {
  const parts: ImportPart[] = [];
  const pending: { readonly prefix: string; readonly rest: string }[] = [{ prefix: '', rest: tree }];
  for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
    const rest = one.rest.replace(/\s+/g, ' ').trim();
    const brace = rest.indexOf('{');
    if (brace === -1) {
      if (rest !== '') parts.push(leaf(one.prefix, rest, form));
      continue;
    }
    const prefix = one.prefix + rest.slice(0, brace).trim();
    const inner = rest.slice(brace + 1, rest.lastIndexOf('}'));
    for (const piece of splitTopLevel(inner).reverse()) pending.push({ prefix, rest: piece });
  }
  return parts;
}

function leaf(prefix: string, rest: string, form: ImportTreeForm): ImportPart {
  const [written = '', alias] = rest.split(' as ').map((part) => part.trim());
  const self = form.self !== undefined && written === form.self && prefix !== '';
  const path = self ? prefix.slice(0, -form.separator.length) : prefix + written;
  const cut = path.lastIndexOf(form.separator);
  const last = cut === -1 ? path : path.slice(cut + form.separator.length);
  const source = cut === -1 ? path : path.slice(0, cut);
  const star = last === '*';
  return { source, name: star || cut === -1 ? undefined : last, alias, star };
}

/** Splits at commas outside inner groups. */
function splitTopLevel(text: string): string[] {
  const pieces: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '{') depth++;
    else if (text[at] === '}') depth--;
    else if (text[at] === ',' && depth === 0) {
      pieces.push(text.slice(from, at));
      from = at + 1;
    }
  }
  pieces.push(text.slice(from));
  return pieces;
}

/**
 * A name or import source as people mean it, without the quotes it is written in.
 *
 * `cut` is how many units went away in front; `prefix` is a sign that goes too, such as the colon of a symbol.
 */
export function unquote(written: string, prefix = ''): { readonly value: string; readonly cut: number } {
  if (prefix !== '' && written.startsWith(prefix)) return { value: written.slice(prefix.length), cut: prefix.length };
  const first = written[0];
  const isQuoted = written.length > 1 && (first === '"' || first === "'" || first === '`') && written.endsWith(first);
  return isQuoted ? { value: written.slice(1, -1), cut: 1 } : { value: written, cut: 0 };
}
