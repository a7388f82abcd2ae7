/** The columns of a card as bytes, with their names spelled out: numbers of names mean nothing in the next process. */
import { pack, unpack } from './byte-pack.ts';
import { FILE_FLAGS } from './facts-layout.ts';
import type { Columns } from './file-card.ts';
import type { NameTable } from './name-table.ts';

const HEAD_INTS = 5;

export function packColumns(columns: Columns, table: NameTable): Uint8Array {
  const { names, marks, ids, calls, sources } = columns;
  const all = [...names, ...calls, ...sources].map((name) => table.text(name));
  const flags = (columns.generated ? FILE_FLAGS.generated : 0) | (columns.library ? FILE_FLAGS.library : 0);
  const head = [names.length, calls.length, sources.length, columns.problemCount, flags];
  const ints = Int32Array.from([...head, ...marks, ...ids, ...all.map((name) => name.length)]);
  return pack({ ints, text: all.join('') });
}

export function unpackColumns(bytes: Uint8Array, table: NameTable): Columns {
  const { ints, text } = unpack(bytes);
  const [nodes = 0, calls = 0, sources = 0, problemCount = 0, flags = 0] = ints;
  const lengths = ints.subarray(HEAD_INTS + 2 * nodes);
  const names = new Uint32Array(nodes + calls + sources);
  let at = 0;
  for (let index = 0; index < names.length; index++) {
    const length = lengths[index] ?? 0;
    names[index] = table.add(text.slice(at, at + length));
    at += length;
  }
  return {
    names: names.slice(0, nodes),
    marks: Uint32Array.from(ints.subarray(HEAD_INTS, HEAD_INTS + nodes)),
    ids: Uint32Array.from(ints.subarray(HEAD_INTS + nodes, HEAD_INTS + 2 * nodes)),
    calls: names.slice(nodes, nodes + calls),
    sources: names.slice(nodes + calls),
    problemCount,
    generated: (flags & FILE_FLAGS.generated) !== 0,
    library: (flags & FILE_FLAGS.library) !== 0,
  };
}
