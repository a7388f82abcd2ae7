/**
 * What a place must offer to hold a journal: rows, and a transaction. Everything else (chain, group commit, claims,
 * checkpoints) is written once on top, in `block-journal.ts`.
 */
import type { Instance } from '../contracts/journal.ts';

/** Records committed together: one row, one link of the chain. */
export interface BlockRow {
  readonly first_seq: number;
  readonly count: number;
  readonly at_ms: number;
  /** One JSON line per record; the seq of each is `first_seq` plus its line number. */
  readonly body: string;
  /** Lower-case hex. */
  readonly mac: string;
}

export interface KeyRow {
  readonly scope: string;
  readonly key: string;
  readonly args_hash: string;
  readonly call_id: string;
  readonly state: 'pending' | 'done';
  readonly answer: string | null;
}

export interface JournalTables {
  lastBlock(): BlockRow | undefined;
  /** False, and nothing written, when `first_seq` is taken. */
  insertBlock(row: BlockRow): boolean;
  /** The block with the greatest `first_seq` not above `seq`. */
  blockAt(seq: number): BlockRow | undefined;
  /** Blocks with a greater `first_seq`, in order. */
  blocksAfter(firstSeq: number, limit: number): readonly BlockRow[];

  findKey(scope: string, key: string): KeyRow | undefined;
  insertKey(row: KeyRow): void;
  settleKey(scope: string, key: string, answer: string): void;
  deleteKey(scope: string, key: string): void;
  pendingKeys(callId: string): readonly KeyRow[];

  /** Seq of the newest checkpoint, 0 for none. Only says where to look: what stands there is checked. */
  checkpointSeq(): number;
  markCheckpoint(seq: number): void;

  enroll(instance: Instance): void;
  instances(): readonly Instance[];
  retire(id: string, atMs: number): void;

  /** Runs `work` as the only writer; a throw undoes what it wrote. Never nested. */
  transaction<T>(work: () => T): T;
  close(): void;
}
