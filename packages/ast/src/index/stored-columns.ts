/**
 * The columns of a card as bytes, with their names spelled out: numbers of names mean nothing in the next process. They
 * are packed where the file is parsed, so the calling thread opens no facts to learn them.
 */

import type { FileFacts } from '../contracts/facts.ts';
import { pack, unpack } from './byte-pack.ts';
import type { CellSlabs } from './cell-slabs.ts';
import { FILE_FLAGS, markOf } from './facts-layout.ts';
import { type Columns, idKey } from './file-card.ts';
import type { NameTable } from './name-table.ts';

const HEAD = { nodes: 0, calls: 1, sources: 2, problemCount: 3, flags: 4, length: 5 } as const;

export function packColumns({ nodes, refs, imports, ...facts }: FileFacts): Uint8Array<ArrayBuffer> {
  const texts = new Map<string, number>();
  const placeOf = (text: string): number => {
    const known = texts.get(text);
    if (known !== undefined) return known;
    texts.set(text, texts.size);
    return texts.size - 1;
  };
  const names = nodes.map(({ name }) => placeOf(name));
  const calls = new Set(refs.map(({ name }) => placeOf(name)));
  const sources = new Set(imports.map(({ source }) => placeOf(source)));
  const flags = (facts.generated ? FILE_FLAGS.generated : 0) | (facts.library ? FILE_FLAGS.library : 0);
  const lengthsAt = HEAD.length + 3 * nodes.length + calls.size + sources.size;
  const ints = new Int32Array(lengthsAt + texts.size);
  ints.set([nodes.length, calls.size, sources.size, facts.problemCount, flags]);
  for (const [at, node] of nodes.entries()) {
    ints[HEAD.length + at] = markOf(node);
    ints[HEAD.length + nodes.length + at] = names[at] ?? 0;
    ints[HEAD.length + 2 * nodes.length + at] = idKey(node.id);
  }
  let at = HEAD.length + 3 * nodes.length;
  for (const place of [calls, sources].flatMap((places) => [...places])) ints[at++] = place;
  for (const text of texts.keys()) ints[at++] = text.length;
  return pack({ ints, text: [...texts.keys()].join('') });
}

/** `slabs`: where the columns of many files are read at once. */
export function unpackColumns(bytes: Uint8Array, table: NameTable, slabs?: CellSlabs): Columns {
  const { ints, text } = unpack(bytes);
  const [nodeCount = 0, callCount = 0, sourceCount = 0, problemCount = 0, flags = 0] = ints;
  const lengthsAt = HEAD.length + 3 * nodeCount + callCount + sourceCount;
  const places = new Uint32Array(Math.max(0, ints.length - lengthsAt));
  let end = 0;
  for (let index = 0; index < places.length; index++) {
    const start = end;
    end += ints[lengthsAt + index] ?? 0;
    places[index] = table.add(text.slice(start, end));
  }
  const own = ints.subarray(HEAD.length, lengthsAt);
  const cells = slabs?.take(own.length) ?? new Uint32Array(own.length);
  cells.set(own);
  const spell = (from: number, to: number): void => {
    for (let at = from; at < to; at++) cells[at] = places[cells[at] ?? 0] ?? 0;
  };
  spell(nodeCount, 2 * nodeCount);
  spell(3 * nodeCount, cells.length);
  return {
    ...{ cells, nodeCount, callCount, problemCount },
    generated: (flags & FILE_FLAGS.generated) !== 0,
    library: (flags & FILE_FLAGS.library) !== 0,
  };
}
