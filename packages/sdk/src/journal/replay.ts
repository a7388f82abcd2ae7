/**
 * Reads records in order and says how every call stands. Pure: it looks at records, never at the world.
 *
 * `audit` only looks; `resume` also says whether work may go on; `repair` is for rebuilding what derives from the
 * journal, and never lets anything run. A record that cannot be understood stops the replay; one that contradicts the
 * others is a problem, and the replay goes on.
 */
import { failure } from '../contracts/failures.ts';
import type { JournalRecord, StoredRecord } from '../contracts/journal.ts';
import { type CallState, foldCall, isPending, type PendingCall, pendingCall } from './call-state.ts';

export type ReplayMode = 'audit' | 'resume' | 'repair';

export interface ReplayProblem {
  readonly seq: number;
  readonly callId: string;
  readonly problem: string;
}

export interface Replay {
  readonly calls: ReadonlyMap<string, CallState>;
  /** Calls whose effect may or may not have happened, oldest intent first. */
  readonly pending: readonly PendingCall[];
  readonly problems: readonly ReplayProblem[];
  /** In mode `resume`: nothing contradicts, and every pending call may be run again. */
  readonly canResume: boolean;
}

const KINDS: ReadonlySet<string> = new Set<JournalRecord['kind']>([
  'session',
  'requested',
  'decision',
  'approval',
  'hook',
  'intent',
  'result',
  'recovery',
  'checkpoint',
  'child',
  'plan',
  'rotation',
]);

/** Throws ToolError (journal_failure) for a kind it does not know and for records out of order. */
export function replay(records: Iterable<StoredRecord>, options: { readonly mode: ReplayMode }): Replay {
  const calls = new Map<string, CallState>();
  const problems: ReplayProblem[] = [];
  let last = 0;
  for (const record of records) {
    checkRecord(record, last);
    last = record.seq;
    if (!('call_id' in record) || record.call_id === undefined) continue;
    const { state, problem } = foldCall(calls.get(record.call_id), record);
    calls.set(record.call_id, state);
    if (problem !== undefined) problems.push({ seq: record.seq, callId: record.call_id, problem });
  }
  const pending = [...calls.values()].filter(isPending).map(pendingCall);
  pending.sort((one, other) => one.seq - other.seq);
  const canResume = options.mode === 'resume' && problems.length === 0 && pending.every((call) => call.retryable);
  return { calls, pending, problems, canResume };
}

function checkRecord({ seq, kind }: StoredRecord, last: number): void {
  if (seq <= last) throw unreadable(`Journal is out of order: record ${seq} after ${last}`, seq);
  if (!KINDS.has(kind)) throw unreadable(`Journal has a record of unknown kind: record ${seq}`, seq);
}

function unreadable(message: string, seq: number): Error {
  return failure('journal_failure', 'repair_needed', message, { details: { seq, next: 'run verify' } });
}
