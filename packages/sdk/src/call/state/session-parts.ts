/**
 * Everything a call may need, as one read-only record made when the session opens, in five named groups.
 *
 * No class and no lookups by name: a function takes the groups it needs. Two sessions in one process have two of these.
 */
import type { JsonObject, ToolError } from '@tool-runtime/protocol';
import type { PathChange, SessionChanges, StagedChange } from '../../changes/change-set.ts';
import type { ToolAnnotations, ToolArgSchema } from '../../contracts/annotations.ts';
import type { ArtifactStore } from '../../contracts/artifacts.ts';
import type { AstIndex } from '../../contracts/ast.ts';
import type { Cassette } from '../../contracts/cassette.ts';
import type { Clock } from '../../contracts/clock.ts';
import type { StagedEffects, StagedTree } from '../../contracts/commands.ts';
import type { EffectLedger } from '../../contracts/effect-ledger.ts';
import type { OpenHttpClient } from '../../contracts/http.ts';
import type { JobTable } from '../../contracts/jobs.ts';
import type { JournalStore } from '../../contracts/journal.ts';
import type { LockTable } from '../../contracts/locks.ts';
import type { BudgetPort, ToolPolicy } from '../../contracts/policy.ts';
import type { SourceRef } from '../../contracts/refs.ts';
import type { Registry } from '../../contracts/registry.ts';
import type { FindingCache, RuleSubject } from '../../contracts/rule.ts';
import type { ArgsKeeper } from '../../contracts/sealed-args.ts';
import type { CallTelemetry } from '../../contracts/telemetry.ts';
import type { AnyTool, CallProfile } from '../../contracts/tool.ts';
import type { OpenTransaction } from '../../contracts/transactions.ts';
import type { SessionWorkspace, Workspace } from '../../contracts/workspace.ts';
import type { SessionCoordinator } from '../../coordinator/session-coordinator.ts';
import type { EventBus } from '../../events/event-bus.ts';
import type { Metrics } from '../../events/metrics.ts';
import type { MetricsReporter } from '../../events/roll-up.ts';
import type { RecoveryLog } from '../../journal/recovery-log.ts';
import type { HostExecutor } from '../../package/executor-registry.ts';
import type { ToolRegistrySnapshot } from '../../package/registry-snapshot.ts';
import type { RuntimePackage } from '../../package/runtime-package.ts';
import type { ToolRoute } from '../../package/tool-router.ts';
import type { SessionPrograms } from '../../platform/commands/session-programs.ts';
import type { ApprovalBroker } from '../../policy/approval-broker.ts';
import type { ApprovalJudge } from '../../policy/approval-policy.ts';
import type { ArgConstraintCheck } from '../../policy/arg-constraints.ts';
import type { Ceiling } from '../../policy/check-ceiling.ts';
import type { HookSet } from '../../policy/hook-set.ts';
import type { RuleSet } from '../../policy/rule-set.ts';
import type { Redactor } from '../../redaction/redactor.ts';

/** A tool with all that can be worked out before the first call. */
export interface CompiledTool {
  /** A listed one is replaced by the tool itself at its first call. */
  tool: AnyTool;
  readonly route: ToolRoute;
  readonly annotations: ToolAnnotations;
  readonly annotated: boolean;
  readonly staticProfile: CallProfile;
  readonly constraints: ArgConstraintCheck;
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  /** Undefined: its own `run`. */
  readonly executor: HostExecutor | undefined;
}

/** Who calls, and what the session is. */
export interface IdentityParts {
  readonly sessionId: string;
  readonly actor: string;
  readonly client: string;
  readonly source: SourceRef;
  readonly instanceId: string;
  readonly registry: Registry;
  /** What the snapshot was built from; children are cut from it. */
  readonly package: RuntimePackage;
  readonly snapshot: ToolRegistrySnapshot;
  readonly tools: ReadonlyMap<string, CompiledTool>;
  /** Known tools this session may not use, with the refusal that says why. */
  readonly hidden: ReadonlyMap<string, ToolError>;
  newId(): string;
}

/** Everything that may refuse a call. */
export interface PolicyParts {
  readonly ceiling: Ceiling;
  readonly hooks: HookSet;
  readonly rules: RuleSet;
  /** Undefined: the policy port allows everything. */
  readonly policy: ToolPolicy | undefined;
  readonly approvals: ApprovalJudge;
  readonly broker: ApprovalBroker;
  readonly budgets: readonly BudgetPort[];
  /** Undefined: the session has none and needs none. */
  readonly coordinator: SessionCoordinator | undefined;
}

/** What goes on record, and how it is made safe to record. */
export interface RecordingParts {
  readonly journal: JournalStore;
  readonly recovery: RecoveryLog;
  /** Records calls or answers them. Undefined: the runtime has none. */
  readonly cassette: Cassette | undefined;
  /** Undefined: no other host works on this workspace. */
  readonly ledger: EffectLedger | undefined;
  readonly clock: Clock;
  /** Tools that hear of refused attempts, usable here or not. */
  readonly recorders: ReadonlyMap<string, AnyTool>;
  /** Whether that process has ended. Programs it left are ended first, so that they cannot act later. */
  isDead(instanceId: string): boolean;
  /** Finds calls of dead processes and says so in the journal. */
  reconcile(): Promise<unknown>;
  hashArgs(tool: string, args: JsonObject): string;
  summarizeArgs(args: JsonObject, privateArgs: readonly string[]): string;
  /** Undefined for calls that are only proposed. */
  readonly sealed: ArgsKeeper | undefined;
  /** What any tool of the runtime declares about its arguments, usable here or not. */
  schemaOf(tool: string): ToolArgSchema;
  /** Knows the secrets of the runtime, and those that calls of this session brought along. */
  readonly redactor: Redactor;
  redact(text: string): string;
}

/** What tools work on. */
export interface ResourceParts {
  readonly locks: LockTable;
  readonly workspace: SessionWorkspace;
  /** Where it is in the workspace that path rules are written for; `.` for all of it. */
  readonly folderPrefix: string;
  readonly readOnlyWorkspace: Workspace;
  /** Bound to the registry's allowlist; only calls of level `network` get it. */
  readonly http: OpenHttpClient;
  /** Commands and git, inside the session's sandbox. */
  readonly programs: SessionPrograms;
  readonly changes: SessionChanges;
  readonly transactions: SessionTransactions;
  /** Set in the parts of calls that belong to a transaction: an error when it is over. */
  readonly transaction?: JoinedTransaction | ToolError;
  readonly jobs: JobTable;
  readonly artifacts: ArtifactStore;
  readonly ast: AstIndex | undefined;
  /** What rules found earlier, by content, and which trees passed. */
  readonly findings: FindingCache;
}

/** The transaction a call has joined. */
export interface JoinedTransaction {
  readonly id: string;
  /** What commands see. */
  readonly tree: StagedTree;
  /** Paths, as the tree spells them, of which is known what they were before the transaction changed them. */
  readonly known: ReadonlySet<string>;
  /** Tools whose effects no transaction can hold back. */
  readonly refused: ReadonlySet<string>;
  /** What a call changed. `bytes`: content that it kept. */
  note(subject: RuleSubject, paths: readonly PathChange[], bytes: (digest: string) => Uint8Array | undefined): void;
  /** What a command changed, as the tree tells it; answers what is new. `mayChange` throws for what it must not touch. */
  noteEffects(effects: StagedEffects, mayChange: (change: PathChange) => void): Promise<readonly PathChange[]>;
}

/** How a transaction ended. */
export type TransactionEnd = 'committed' | 'aborted' | 'expired';

/** A transaction that is about to end: no call can join it. */
export interface ClosingTransaction {
  readonly id: string;
  /** The session's parts, with files, commands and code index of its tree. */
  readonly parts: SessionParts;
  /** What changed, by the tool that changed it: what the rules of the after phase judge. */
  readonly subjects: readonly { readonly subject: RuleSubject; readonly paths: ReadonlySet<string> }[];
  /** What it changed so far. */
  readonly paths: readonly PathChange[];
  /** What it would change now; others' changes of other lines are merged on its tree first. Throws E_FILE_IO (`conflict`). */
  plan(options: PlanOptions): Promise<TransactionPlan>;
  end(how: TransactionEnd): Promise<void>;
  /** Calls may join it again. */
  reopen(): void;
}

export interface PlanOptions {
  readonly signal: AbortSignal;
  /** Whether the caller may see the content of this path. */
  mayShow(path: string): boolean;
}

export interface TransactionPlan {
  readonly staged: readonly StagedChange[];
  readonly merged: readonly string[];
}

/** The transactions of one session. */
export interface SessionTransactions {
  /** Throws E_POLICY where there can be none, and when there are too many. */
  begin(signal: AbortSignal): Promise<OpenTransaction>;
  /** Waits for its running calls. Throws E_VALIDATION_FAIL when no transaction is open, or no transaction has this id. */
  take(tx_id: string | undefined, signal: AbortSignal): Promise<ClosingTransaction>;
  /** Calls that would have joined an expired one are refused until this was called. Answers its id, if there was one. */
  forget(tx_id: string | undefined): string | undefined;
  /** The parts that a call works with. */
  join(request: { readonly tool: string; readonly txId?: string | undefined }, parts: SessionParts): JoinedCall;
  list(): readonly OpenTransaction[];
  /** Gives all of them up. */
  close(): Promise<void>;
}

export interface JoinedCall {
  readonly parts: SessionParts;
  /** To be called when its turn has come. Throws when its transaction ends or has ended. */
  enter(): void;
  /**
   * To be called when it has ended. `isUnrecorded`: its result is not on record. The transaction ends with its last
   * such call: what it holds may be what fills the disk, and no other call could end it then.
   */
  leave(isUnrecorded?: boolean): void;
}

/** Who learns about calls without changing them. */
export interface WatchingParts {
  readonly events: EventBus;
  readonly metrics: Metrics;
  readonly reporter: MetricsReporter;
  readonly telemetry: CallTelemetry | undefined;
  /** Reports failures of the runtime itself to the embedding program; callers see only E_INTERNAL. */
  reportUnexpected(error: ToolError): void;
}

export interface SessionParts extends IdentityParts, PolicyParts, RecordingParts, ResourceParts, WatchingParts {}
