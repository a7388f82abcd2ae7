/**
 * What stays in memory of every indexed file: enough to decide which of its declarations a query wants. The rest is in
 * its packed facts, which come and go.
 */
import type { Workspace } from '@tool-runtime/sdk';
import type { SkipReason } from '../contracts/code-index-contract.ts';

export type FileStat = NonNullable<Awaited<ReturnType<Workspace['stat']>>>;

/** What a file looked like from outside when it was read. */
export interface Stamp {
  readonly size: number;
  readonly mtimeMs: number;
  readonly identity: string;
  /** False when the file was so young that a further write could have left size and time as they are. */
  readonly settled: boolean;
}

/** What queries compare. One array for all of it: five small ones take three times the memory. */
export interface Columns {
  /** The marks, names and keys of ids of all declarations, then the different names called, then the import sources. */
  readonly cells: Uint32Array;
  readonly nodeCount: number;
  readonly callCount: number;
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

export const NO_COLUMNS: Columns = {
  cells: new Uint32Array(0),
  nodeCount: 0,
  callCount: 0,
  problemCount: 0,
  generated: false,
  library: false,
};

/** Numbers of the names its declarations have, one for each declaration. */
export function namesOf({ cells, nodeCount }: Columns): Uint32Array {
  return cells.subarray(nodeCount, 2 * nodeCount);
}

/** Keys of ids, one for each declaration. */
export function idsOf({ cells, nodeCount }: Columns): Uint32Array {
  return cells.subarray(2 * nodeCount, 3 * nodeCount);
}

/** Numbers of the different names it calls. */
export function callsOf({ cells, nodeCount, callCount }: Columns): Uint32Array {
  return cells.subarray(3 * nodeCount, 3 * nodeCount + callCount);
}

/** Numbers of the different sources it imports. */
export function sourcesOf({ cells, nodeCount, callCount }: Columns): Uint32Array {
  return cells.subarray(3 * nodeCount + callCount);
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
