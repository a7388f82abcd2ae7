/**
 * What stays in memory of every indexed file: enough to decide which of its declarations a query wants. The rest is in
 * its packed facts, which come and go.
 */
import type { Workspace } from '@tool-runtime/sdk';
import type { SkipReason } from '../contracts/code-index-contract.ts';
import type { FactsView } from './facts-view.ts';
import type { NameTable } from './name-table.ts';

export type FileStat = NonNullable<Awaited<ReturnType<Workspace['stat']>>>;

/** What a file looked like from outside when it was read. */
export interface Stamp {
  readonly size: number;
  readonly mtimeMs: number;
  readonly identity: string;
  /** False when the file was so young that a further write could have left size and time as they are. */
  readonly settled: boolean;
}

/** The queryable columns, one element per declaration. */
export interface Columns {
  readonly names: Uint32Array;
  readonly marks: Uint32Array;
  readonly ids: Uint32Array;
  /** Different names called, and different import sources. */
  readonly calls: Uint32Array;
  readonly sources: Uint32Array;
  readonly problemCount: number;
  readonly generated: boolean;
  readonly library: boolean;
}

export interface FileCard extends Columns {
  readonly path: string;
  readonly language: string;
  /** Names grammar, profile and layout the rows were made with. */
  readonly parser: string;
  /** Of the content; empty for a file that was not read. */
  readonly sha256: string;
  /** Of the packed facts: tells whether the stored ones are still those the columns were made from. */
  readonly crc: number;
  readonly skip: SkipReason | undefined;
  stamp: Stamp;
  /** When the content was read, counted in reads: a later read wins, whichever finishes first. */
  ticket: number;
  readonly problemsBefore: number | undefined;
}

/** Coarse clocks of file systems tick every few milliseconds; some only every two seconds, which `identity` covers. */
const SETTLE_MS = 50;

export function stampOf(stat: FileStat, now: number): Stamp {
  const { size, mtimeMs, identity } = stat;
  return { size, mtimeMs, identity, settled: now - mtimeMs > SETTLE_MS };
}

export function isSameStamp(stamp: Stamp, stat: FileStat): boolean {
  return (
    stamp.settled && stamp.size === stat.size && stamp.mtimeMs === stat.mtimeMs && stamp.identity === stat.identity
  );
}

const NOTHING = new Uint32Array(0);

export const NO_COLUMNS: Columns = {
  names: NOTHING,
  marks: NOTHING,
  ids: NOTHING,
  calls: NOTHING,
  sources: NOTHING,
  problemCount: 0,
  generated: false,
  library: false,
};

export function columnsOf(view: FactsView, table: NameTable): Columns {
  const { nodeCount, problemCount, generated, library } = view;
  const names = new Uint32Array(nodeCount);
  const marks = new Uint32Array(nodeCount);
  const ids = new Uint32Array(nodeCount);
  for (let node = 0; node < nodeCount; node++) {
    names[node] = table.add(view.text(node, 'name'));
    marks[node] = view.number(node, 'mark');
    ids[node] = idKey(view.text(node, 'id'));
  }
  const calls = new Set<number>();
  for (let ref = 0; ref < view.refCount; ref++) calls.add(table.add(view.refName(ref)));
  const sources = new Set(view.imports().map(({ source }) => table.add(source)));
  return {
    names,
    marks,
    ids,
    calls: Uint32Array.from(calls),
    sources: Uint32Array.from(sources),
    problemCount,
    generated,
    library,
  };
}

/** A small number from an id: five of its base62 characters stay below 2^30. */
export function idKey(id: string): number {
  let key = 0;
  for (let at = 1; at <= 5; at++) key = key * 62 + digit(id.charCodeAt(at));
  return key;
}

function digit(code: number): number {
  if (code >= 97) return code - 61;
  if (code >= 65) return code - 55;
  return code >= 48 ? code - 48 : 0;
}
