/** Transactions as tools see them: several calls whose changes become real together, or not at all. */
import type { ToolError } from '@tool-runtime/protocol';
import type { PathChange } from '../changes/change-set.ts';
import { failure } from './failures.ts';

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

/** `what` has to run on the tree of a transaction, which is a copy of the workspace. */
export function noCommandsOnCopy(what: string, problem: ToolError, next: string): ToolError {
  return failure(
    'isolation_failure',
    'host_configuration_needed',
    `${what} cannot run in a transaction on this machine: ${problem.message}`,
    { details: { gate: 'transaction', reason: 'no_overlay', next } },
  );
}
