/** Transactions as tools see them: several calls whose changes become real together, or not at all. */
import type { PathChange } from '../changes/change-set.ts';

export interface OpenTransaction {
  readonly tx_id: string;
  readonly session_id: string;
  readonly actor: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** When it ends by itself if no call joins it until then. */
  readonly expires_at: number;
}

export interface CommittedTransaction {
  readonly tx_id: string;
  readonly paths: readonly PathChange[];
  /** Paths that others changed too, in other lines. */
  readonly merged: readonly string[];
  /** Commands of the registry that passed. */
  readonly checked: readonly string[];
}

/** Without an id the newest open transaction of the session is meant. */
export interface Transactions {
  begin(): Promise<OpenTransaction>;
  commit(tx_id: string | undefined): Promise<CommittedTransaction>;
  /** Answers what was given up; a transaction that has expired is over already. */
  abort(tx_id: string | undefined): Promise<{ readonly tx_id: string; readonly paths: readonly PathChange[] }>;
  /** Those that this session may know of, oldest first. */
  list(): readonly OpenTransaction[];
}

export type TransactionStep = 'begin' | 'commit' | 'abort';
