/**
 * What a call is at each point of its path. Each stage takes the type before it and returns the type after it, so the
 * order of the stages is checked by the compiler: only a `GatedCall` can be executed.
 */
import type { ErrorEntry, JsonObject, JsonValue, ToolError } from '@tool-runtime/protocol';
import type { PathChange, WorkspaceChanges } from '../../changes/change-set.ts';
import type { MutationClass } from '../../contracts/annotations.ts';
import type { BatchMember, TapedCall } from '../../contracts/cassette.ts';
import type { TerminalStatus } from '../../contracts/classes.ts';
import type { AskClient } from '../../contracts/client-port.ts';
import type { EffectClaim } from '../../contracts/effect-ledger.ts';
import type { CommitCandidate, Publication } from '../../contracts/git.ts';
import type { DecisionRecord, JournalRecord, KeyClaim } from '../../contracts/journal.ts';
import type { MaskCount } from '../../contracts/redaction.ts';
import type { RuleSubject } from '../../contracts/rule.ts';
import type { CallSpan } from '../../contracts/telemetry.ts';
import type { FileChange, MaybePromise, Workspace } from '../../contracts/workspace.ts';
import type { ToolExecutionStrategy } from '../../package/execution-strategy.ts';
import type { CallPathRule } from '../../policy/path-rule.ts';
import type { CallTime } from './call-time.ts';
import type { ChangeLog, Grant } from './change-log.ts';
import type { CompiledTool } from './session-parts.ts';

/** What a session hands in. Ids and limits are already checked; `args` is whatever the caller sent. */
export interface CallRequest {
  readonly tool: string;
  readonly args: unknown;
  readonly requestId: string;
  readonly idempotencyKey?: string;
  readonly dedupeKey?: string;
  /** The transaction it names. */
  readonly txId?: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** W3C trace context of the caller. */
  readonly traceparent?: string;
  readonly tracestate?: string;
  /** Lets the tool put questions to the caller while it runs. */
  readonly askClient?: AskClient;
  readonly turn?: CallTurn;
  /** Of the batch it belongs to. */
  readonly strategy?: ToolExecutionStrategy;
  /** Of the batch it belongs to, where a cassette has to know. */
  readonly member?: BatchMember;
  /** Of the atomic batch that a commit belongs to. */
  readonly batchKey?: BatchKey;
  /** Of an atomic batch that is sent again: the transaction whose record answers it. It never runs. */
  readonly recordOf?: string;
  /** Answers it instead of the tool; an error refuses it. */
  readonly taped?: TapedCall | ToolError;
}

/** What a batch is known by when it is sent again: the keys of its calls, and a hash of all of them. */
export interface BatchKey {
  readonly key: string;
  readonly argsHash: string;
}

/** The place of a call among those that run at once. Waiting for it is part of the call's time. */
export interface CallTurn {
  /** Resolves as well when the signal fires first; then there is nothing to wait for any more. */
  take(signal: () => AbortSignal): MaybePromise<void>;
  /** Lets others go while a person is asked; the returned function ends that. */
  lend(): () => void;
}

/** A call that has an identity and a clock, and nothing else yet. */
export interface OpenCall {
  readonly request: CallRequest;
  readonly callId: string;
  readonly sessionId: string;
  /** The tool's name as metrics and spans show it. */
  readonly countedAs: string;
  readonly startedAt: number;
  readonly startedTick: number;
  readonly warnings: ErrorEntry[];
  /** Secrets that were masked in the answer and in what the tool printed or kept. */
  readonly masks: MaskCount;
  /** Records of this call that are not written yet, in order. */
  readonly trail: JournalRecord[];
  readonly progress: {
    requested: boolean;
    pct: number;
    ended: boolean;
    /** How long people took to answer, by the runtime's clock. */
    waitedMs: number;
    /** The change set of what the call did. */
    changeId?: string | undefined;
    /** What commands of rules changed in files. */
    checked?: readonly PathChange[];
    /** The write of a slow read's records, begun while it ran. Never rejects. */
    early?: Promise<void>;
    /** `other` until the arguments are known. */
    mutationClass: MutationClass;
  };
  /** The change sets as this call uses them. Made on first use. */
  sets(): WorkspaceChanges;
  /** Undefined without telemetry. Never throws. */
  readonly span: CallSpan | undefined;
  /** How long it may take; every stage waits through it. */
  readonly time: CallTime;
  /** Fires on cancel and at the deadline. Made on first use. */
  signal(): AbortSignal;
  abort(reason: ToolError): void;
  cancelled(): boolean;
}

/**
 * The tool is known and the arguments are final for this round of checks. `subject` is frozen and is passed on as it is:
 * what the gates checked, parsed commands included, is the object that runs.
 */
export interface Call {
  readonly open: OpenCall;
  readonly compiled: CompiledTool;
  readonly subject: CallSubject;
  readonly argsHash: string;
  readonly argsSummary: string;
  readonly mutationClass: MutationClass;
  /** Longest run the tool's arguments and the registry allow, whatever the request says. */
  readonly limitMs: number;
  /** Undefined: no path rule applies to the call. */
  readonly pathRule: CallPathRule | undefined;
  /** The session's, under the path rule. */
  readonly workspace: Workspace;
}

export type CallSubject = RuleSubject & { readonly args: JsonObject };

/** Every gate has spoken. `ask` carries why a person or program must say yes. */
export interface JudgedCall extends Call {
  readonly verdict: 'allow' | 'ask';
  readonly decision: Omit<DecisionRecord, 'kind' | 'call_id' | 'session_id' | 'at_ms'>;
}

/** Locks are held and the keys, if any, are known to be new. */
export interface AdmittedCall extends JudgedCall {
  readonly claims: readonly KeyClaim[];
  /** Its names in the ledger of effects; empty without a ledger, and for a plain read. */
  readonly effects: readonly KeyClaim[];
  /** Positions of lost calls in the ledger that this one takes over, by key. */
  readonly takesOver: ReadonlyMap<string, number>;
  readonly releaseLocks: () => void;
}

/** The intent is on record, or in the trail of a call that only reads: the only kind of call that may run. */
export interface RecordedCall extends AdmittedCall {
  readonly effectId: string;
  /** Its claims in the ledger of effects. */
  readonly held: readonly EffectClaim[];
  /** Of a call that only reads: to be called when it takes time. The returned function is to be called when it ends. */
  readonly onSlow: (() => () => void) | undefined;
}

/** What the last gate checked, so that the tool does exactly that. */
export interface GateOutcome {
  /** The tree of a commit. */
  readonly candidate: CommitCandidate | undefined;
  /** The object of a push. */
  readonly publication: Publication | undefined;
}

/** The last gate was passed. */
export interface GatedCall extends RecordedCall, GateOutcome {}

/** What running it came to; errors are values here, because they are recorded like anything else. */
export interface Execution {
  readonly data: JsonValue;
  readonly error: ToolError | undefined;
  readonly changes: ChangeLog;
  /** For the record. */
  readonly facts: JsonObject | undefined;
  /** References an executor gave back, for the record. */
  readonly effect: JsonObject | undefined;
  /** The tool ignored its deadline and was abandoned. */
  readonly isLeft: boolean;
  /** What the tool may still change; it ends with the call. */
  readonly grant: Grant;
}

/** How a call ended, whichever way. */
export interface Outcome {
  readonly status: TerminalStatus;
  readonly data: JsonValue;
  readonly errors: readonly ErrorEntry[];
  readonly changes: readonly FileChange[];
  readonly bytes: number;
  readonly endedAt: number;
  /** Without the time a person took to answer. */
  readonly durationMs: number;
  readonly waitedMs: number;
}
