/**
 * What a place must offer to hold a journal: rows, and a transaction. Everything else (chain, group commit, claims,
 * checkpoints) is written once on top, in `block-journal.ts`.
 */
import type { Instance } from '../../contracts/journal.ts';

/** Records committed together: one row, one link of the chain. */
export interface BlockRow {
  readonly first_seq: number;
  readonly count: number;
  readonly at_ms: number;
  /** One JSON line per record; the seq of each is `first_seq` plus its line number. */
  readonly body: string;
  /** The total of the claims of keys after this block, where it changed (`key-ledger.ts`). */
  readonly claims?: string | null;
  /** Lower-case hex. */
  readonly mac: string;
}

export interface KeyName {
  readonly scope: string;
  readonly key: string;
}

export interface KeyRow extends KeyName {
  readonly args_hash: string;
  readonly call_id: string;
  readonly state: 'pending' | 'done';
  readonly answer: string | null;
  /** When it got its answer. */
  readonly settled_at: number | null;
  /** Who claimed it; null in rows of older versions. */
  readonly instance: string | null;
  /** JSON; null where there is none, and once there is an answer. */
  readonly rehearsal: string | null;
  /** Keyed digest of all of the above, lower-case hex. */
  readonly mac: string;
}

export interface InstanceRow extends Instance {
  readonly retired_at: number | null;
  /** Keyed digest of all of the above, lower-case hex. */
  readonly mac: string;
}

/** One archive of moved blocks. The newest one's end is the base: the place where the stored chain begins. */
export interface ArchiveRow {
  /** Its last record. */
  readonly through: number;
  readonly first_seq: number;
  /** Of the chain after `through`, lower-case hex. */
  readonly mac: string;
  readonly name: string;
  readonly sha256: string;
  readonly bytes: number;
  /** Time of its last block. */
  readonly newest_at_ms: number;
  /** The last record written together with this row: a chain that ends before it was cut. */
  readonly head_seq: number;
  /** The last one before those that rotations added: with `head_seq` still the head, they alone are no reason to rotate. */
  readonly content_seq: number;
  readonly pruned_at: number | null;
  /** Keyed digest of all of the above: the base cannot be moved without the key. */
  readonly seal: string;
}

export interface JournalTables {
  lastBlock(): BlockRow | undefined;
  /** False, and nothing written, when a block is there or behind: a place may be free only because it was archived. */
  insertBlock(row: BlockRow): boolean;
  /** The block with the greatest `first_seq` not above `seq`. */
  blockAt(seq: number): BlockRow | undefined;
  /** Blocks with a greater `first_seq`, in order. */
  blocksAfter(firstSeq: number, limit: number): readonly BlockRow[];

  /** The newest block that carries a total of claims. */
  lastTotal(): { readonly first_seq: number; readonly claims: string } | undefined;

  findKey(scope: string, key: string): KeyRow | undefined;
  /** Adds the row, or replaces the one of that name. */
  putKey(row: KeyRow): void;
  deleteKey(scope: string, key: string): void;
  pendingKeys(callId: string): readonly KeyRow[];
  keys(): Iterable<KeyRow>;
  /** Up to `limit` keys of scopes that begin with `scopePrefix`, settled before `before`. */
  settledKeys(scopePrefix: string, before: number, limit: number): readonly KeyName[];

  /** In order. */
  archives(): readonly ArchiveRow[];
  lastArchive(): ArchiveRow | undefined;
  /** Adds the row, or replaces the one with the same `through`. */
  putArchive(row: ArchiveRow): void;
  deleteBlocks(through: number): void;

  /** Seq of the newest checkpoint, 0 for none. Only says where to look: what is there is checked. */
  checkpointSeq(): number;
  markCheckpoint(seq: number): void;

  /** Adds the row, or replaces the one with the same id. */
  putInstance(row: InstanceRow): void;
  findInstance(id: string): InstanceRow | undefined;
  /** By id. */
  instances(): readonly InstanceRow[];
  /** Forgets those who retired, but for the ones named and those that hold a pending key. Says how many. */
  deleteRetired(except: readonly string[]): number;

  /** Set when the journal is made and gone with its first block: an emptied journal is not a new one. */
  birth(): string | undefined;
  /** What the storage itself finds wrong with its rows and indexes. */
  damage(): string | undefined;

  /** Runs `work` on one state of the tables, whatever others write meanwhile. */
  snapshot<T>(work: () => T): T;

  /** Runs `work` as the only writer; a throw undoes what it wrote. Never nested. */
  transaction<T>(work: () => T): T;
  close(): void;
}
