/**
 * What is written down. Records hold hashes and redacted summaries, never raw arguments or content.
 *
 * The store is a port: append-only, strictly increasing `seq`, keyed hash chain. The only raw content it may keep is
 * the answer of a keyed call, because repeating that answer is what the key asks for.
 */
import type { ErrorEntry, JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { TerminalStatus } from './classes.ts';
import type { RecordedIntent, RecordedResult } from './effects.ts';
import type {
  ArchiveCheck,
  PruneOptions,
  PruneReport,
  RotateOptions,
  RotateReport,
  RotationRecord,
} from './journal-rotation.ts';
import type { ExpectedChange, Rehearsal } from './rehearsal.ts';
import type { MaybePromise } from './workspace.ts';

interface CallRecord {
  readonly call_id: string;
  readonly session_id: string;
  readonly at_ms: number;
}

export interface SessionRecord {
  readonly kind: 'session';
  readonly event: 'opened' | 'closed' | 'expired';
  readonly session_id: string;
  readonly at_ms: number;
  readonly actor: string;
  readonly client: string;
  readonly package_fingerprint: string;
  readonly registry_fingerprint: string;
  /** For a child of a session on another host: the session that stands for it there. */
  readonly parent_session_id?: string;
  /** The package that its parent's host cut for it. */
  readonly granted_fingerprint?: string;
}

export interface RequestedRecord extends CallRecord {
  readonly kind: 'requested';
  readonly request_id: string;
  readonly tool: string;
  readonly args_hash: string;
  readonly args_summary: string;
  readonly actor: string;
  readonly client: string;
  readonly idempotency_key?: string;
  readonly details?: JsonObject;
}

export interface DecisionRecord extends CallRecord {
  readonly kind: 'decision';
  readonly outcome: 'allow' | 'deny' | 'ask';
  /** The gate that decided: `route`, `arguments`, `hook`, `ceiling`, `rule`, `policy`, `approval`, `budget`, … */
  readonly gate: string;
  readonly code: string;
  readonly rule?: string;
  /** `file:line` of the registry that decided. */
  readonly registry?: string;
  readonly message?: string;
}

export interface ApprovalRecord extends CallRecord {
  readonly kind: 'approval';
  readonly phase: 'dispatched' | 'answered';
  readonly approval_id: string;
  readonly answer?: string;
  readonly answered_by?: string;
  readonly reason?: string;
  /** What a yes for the session covers from now on. */
  readonly scope?: string;
}

export interface HookRecord extends CallRecord {
  readonly kind: 'hook';
  readonly hook: string;
  readonly action: 'denied' | 'modified' | 'rewrote_result';
  readonly before_hash?: string;
  readonly after_hash?: string;
}

export interface IntentRecord extends CallRecord {
  readonly kind: 'intent';
  readonly tool: string;
  readonly args_hash: string;
  /** The call only reads: when it is lost it may simply be made again. */
  readonly retry_safe: boolean;
  readonly instance: string;
  readonly effect: RecordedIntent;
  /** Of a call with a key: state before and intended state of all it changes, where its tool can tell. */
  readonly changes?: readonly ExpectedChange[];
}

export interface ResultRecord extends CallRecord {
  readonly kind: 'result';
  readonly tool: string;
  readonly args_hash: string;
  readonly status: TerminalStatus;
  readonly start_ts: number;
  readonly end_ts: number;
  readonly duration_ms: number;
  /** How long a person took to answer; not part of `duration_ms`. Left out for none. */
  readonly waited_ms?: number;
  readonly bytes: number;
  readonly data_digest?: string;
  /** Digests; `folder`, `symlink`, `other` for what has none, `unread` for a file too large to read; null for nothing. */
  readonly files: readonly { path: string; before: string | null; after: string | null }[];
  /** When there were more than are named. */
  readonly files_total?: number;
  readonly errors: readonly ErrorEntry[];
  /** Handles of what the answer refers to; left out for none. */
  readonly artifacts?: readonly string[];
  /** Known secrets that were masked in the answer; left out for none. */
  readonly redacted?: number;
  /** What the tool itself wanted on record. */
  readonly details?: JsonObject;
  readonly effect: RecordedResult;
}

export interface RecoveryRecord {
  readonly kind: 'recovery';
  readonly at_ms: number;
  readonly call_id?: string;
  readonly session_id?: string;
  /** Why a human or a program should look: `result_append_failed`, `crashed`, `chain_cut`, `machine_stopped`, … */
  readonly reason: string;
  /** Of `machine_stopped` and `chain_cut`: the last record known to have been on the disk. */
  readonly after_seq?: number;
  readonly classification: 'retry_safe' | 'reconcile' | 'repair' | 'resolved';
  readonly note?: string;
}

export interface CheckpointRecord {
  readonly kind: 'checkpoint';
  readonly at_ms: number;
  /** Calls whose intent has neither result, refusal nor recovery yet. A scan for unfinished work may start here. */
  readonly open: readonly string[];
  /** Where the intent of each of those calls stands, in the same order: the scan need not go back to find them. */
  readonly open_seq: readonly number[];
  readonly instance: string;
  /** Name of the writer's mark in `heads/`: a journal that has this record has a mark. */
  readonly marked_by?: string;
}

export interface ChildRecord {
  readonly kind: 'child';
  readonly at_ms: number;
  readonly session_id: string;
  readonly child_session_id: string;
  readonly event: string;
  readonly details: JsonObject;
}

/** Proposed calls, and the verdicts on them. None of them ran. */
export interface PlanRecord {
  readonly kind: 'plan';
  readonly at_ms: number;
  readonly session_id: string;
  readonly plan_id: string;
  readonly actor: string;
  readonly client: string;
  /** Redacted. */
  readonly note?: string;
  readonly accepted: boolean;
  readonly steps: readonly {
    readonly tool: string;
    readonly args_hash: string;
    readonly args_summary: string;
    readonly verdict: 'allow' | 'ask' | 'deny';
    /** What asks or denies. */
    readonly code?: string;
  }[];
  /** What the coordinator said, or why its word was missing where it was required. */
  readonly coordinator?: {
    readonly verdict: 'allow' | 'ask' | 'deny';
    readonly reason: string;
    readonly message?: string;
  };
}

export type JournalRecord =
  | SessionRecord
  | RequestedRecord
  | DecisionRecord
  | ApprovalRecord
  | HookRecord
  | IntentRecord
  | ResultRecord
  | RecoveryRecord
  | CheckpointRecord
  | ChildRecord
  | PlanRecord
  | RotationRecord;

export type StoredRecord = JournalRecord & { readonly seq: number };

/** The state of the chain after `seq` records; keep it where the writer cannot reach to prove nothing was cut off. */
export interface ChainHead {
  readonly seq: number;
  readonly mac: string;
}

export interface VerifyReport {
  readonly ok: boolean;
  /** How many were checked. */
  readonly records: number;
  readonly head: ChainHead;
  /** Where the journal begins since its last rotation. */
  readonly base?: ChainHead;
  /** Oldest first, when they were asked for. */
  readonly archives?: readonly ArchiveCheck[];
  /** First record that does not fit, and why; with `where`, what is broken is no record but belongs behind that one. */
  readonly broken?: { readonly seq: number; readonly reason: string; readonly where?: 'claims' | 'processes' | 'file' };
  /** Where the machine stopped without closing the journal. The chain is whole; acknowledged records may be missing. */
  readonly losses?: readonly LostTail[];
}

export interface LostTail {
  /** Records behind this one may be missing: those of about one second. */
  readonly after: number;
  readonly at_ms: number;
  /** The record that says so; absent until a process that writes has started. */
  readonly seq?: number;
}

/** What marks of earlier writers say at a start. */
export interface HeadFinding {
  /** `chain_cut`: the chain lacks a head that was on the disk. `machine_stopped`: records behind it may be missing. */
  readonly reason: 'chain_cut' | 'machine_stopped';
  readonly seq: number;
  /** When the mark was written. */
  readonly atMs: number;
  /** Its name in `heads/`. */
  readonly mark: string;
}

export interface VerifyOptions {
  /** Heads that a witness has recorded; the chain must contain each. */
  readonly witnessed?: readonly ChainHead[];
  /** Also checks every archive that is still there. */
  readonly archives?: boolean;
}

export type KeyState =
  | { readonly state: 'new' }
  | {
      readonly state: 'pending';
      readonly callId: string;
      /** The instance that claimed it; absent in claims of versions that did not note it. */
      readonly instance?: string;
      readonly rehearsal?: Rehearsal;
    }
  | { readonly state: 'done'; readonly callId: string; readonly answer: JsonValue }
  | { readonly state: 'conflict'; readonly callId: string };

export interface KeyClaim {
  /** Keys live in a scope: `idempotency:<actor>` for an `idempotency_key`, else the whole state folder (`dedupe`). */
  readonly scope: string;
  readonly key: string;
  readonly argsHash: string;
  readonly callId: string;
  readonly instance?: string;
  readonly rehearsal?: Rehearsal;
}

export interface ReadFilter {
  readonly after?: number;
  readonly limit?: number;
  readonly sessionId?: string;
  readonly callId?: string;
  readonly kind?: JournalRecord['kind'];
  /** Also those that were moved into an archive that is still there. */
  readonly archived?: boolean;
}

export interface Instance {
  readonly id: string;
  readonly pid: number;
  /** Distinguishes a reused pid: start time of the process and boot id. */
  readonly birth: string;
}

export interface EnrolledInstance extends Instance {
  /** It has signed off, or was found dead. */
  readonly retired: boolean;
}

export type StoredIntent = IntentRecord & { readonly seq: number };

export interface JournalStore {
  /**
   * Resolves when the records are as durable as the store's level promises; rejects with nothing written. No write waits
   * for another process inside the event loop: what cannot be written now is a promise.
   */
  append(records: readonly JournalRecord[]): MaybePromise<void>;
  /** Claims the key and appends in one step; anything but `new` appends nothing. */
  claim(claim: KeyClaim, records: readonly JournalRecord[]): MaybePromise<KeyState>;
  lookup(scope: string, key: string, argsHash: string): MaybePromise<KeyState>;
  /** Appends and stores the answer of a claimed key in one step. */
  settle(scope: string, key: string, answer: JsonValue, records: readonly JournalRecord[]): MaybePromise<void>;
  /** Frees a claimed key whose call certainly had no effect. */
  release(scope: string, key: string, records: readonly JournalRecord[]): MaybePromise<void>;
  /** The keys a call claimed and neither settled nor released. */
  claimsOf(callId: string): readonly KeyClaim[];
  /** Intents with neither result, refusal nor recovery, of every process that shares the store, oldest first. */
  unfinished(): readonly StoredIntent[];
  /**
   * Runs `work` with no other writer in between: what it read is still true when what it wrote is stored, and a throw
   * undoes all of it. `work` is synchronous, and inside it every method of the store answers synchronously. `isKept`: it
   * records what has happened, so it does not fail because the journal is busy for long.
   */
  atomically<T>(work: () => T, options?: { readonly isKept?: boolean }): MaybePromise<T>;
  read(filter?: ReadFilter): Iterable<StoredRecord>;
  head(): ChainHead;
  /**
   * Checks every record, and that the chain still contains `anchor` where one is given. An anchor that was archived is
   * looked up in its archive; once that is deleted, it cannot be confirmed.
   */
  verify(anchor?: ChainHead, options?: VerifyOptions): VerifyReport;
  /** Moves old records into an archive. In small steps; being closed in between ends it with what was moved so far. */
  rotate(options: RotateOptions): Promise<RotateReport>;
  /** Deletes what need not be kept: whole archives, oldest first, and the leftovers of finished processes. */
  prune(options: PruneOptions): Promise<PruneReport>;
  /** Registers this process so that others can tell a live owner from a dead one. */
  enroll(instance: Instance): MaybePromise<void>;
  /** The newest head that this process knows to be on the disk; also after the store was closed. */
  syncedHead?(): ChainHead | undefined;
  /** At a start: what earlier writers left unfinished or found missing, put on record. Stores without marks have nothing to say. */
  reportHeads?(): MaybePromise<readonly HeadFinding[]>;
  /** Those that have not retired. */
  instances(): readonly Instance[];
  /** Undefined for one that is not enrolled, or whose entry cannot be believed. */
  findInstance(id: string): EnrolledInstance | undefined;
  retire(id: string): MaybePromise<void>;
  close(): MaybePromise<void>;
}
