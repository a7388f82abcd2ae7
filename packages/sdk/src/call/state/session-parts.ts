/**
 * Everything a call may need, as one read-only record made when the session opens, in five named groups.
 *
 * No class and no lookups by name: a function takes the groups it needs. Two sessions in one process have two of these.
 */
import type { JsonObject, ToolError } from '@tool-runtime/protocol';
import type { WorkspaceChanges } from '../../changes/change-set.ts';
import type { ToolAnnotations } from '../../contracts/annotations.ts';
import type { ArtifactStore } from '../../contracts/artifacts.ts';
import type { AstIndex } from '../../contracts/ast.ts';
import type { Clock } from '../../contracts/clock.ts';
import type { OpenHttpClient } from '../../contracts/http.ts';
import type { JobTable } from '../../contracts/jobs.ts';
import type { JournalStore } from '../../contracts/journal.ts';
import type { LockTable } from '../../contracts/locks.ts';
import type { BudgetPort, ToolPolicy } from '../../contracts/policy.ts';
import type { SourceRef } from '../../contracts/refs.ts';
import type { Registry } from '../../contracts/registry.ts';
import type { FindingCache } from '../../contracts/rule.ts';
import type { CallTelemetry } from '../../contracts/telemetry.ts';
import type { AnyTool, CallProfile } from '../../contracts/tool.ts';
import type { SessionWorkspace, Workspace } from '../../contracts/workspace.ts';
import type { SessionCoordinator } from '../../coordinator/session-coordinator.ts';
import type { EventBus } from '../../events/event-bus.ts';
import type { Metrics } from '../../events/metrics.ts';
import type { MetricsReporter } from '../../events/metrics-reporter.ts';
import type { RecoveryLog } from '../../journal/recovery-log.ts';
import type { HostExecutor } from '../../package/executor-registry.ts';
import type { ToolRegistrySnapshot } from '../../package/registry-snapshot.ts';
import type { RuntimePackage } from '../../package/runtime-package.ts';
import type { ToolRoute } from '../../package/tool-route.ts';
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
  readonly clock: Clock;
  /** Tools that hear of refused attempts, usable here or not. */
  readonly recorders: ReadonlyMap<string, AnyTool>;
  /** Whether that process has ended. Programs it left are ended first, so that they cannot act later. */
  isDead(instanceId: string): boolean;
  /** Finds calls of dead processes and says so in the journal. */
  reconcile(): Promise<unknown>;
  hashArgs(tool: string, args: JsonObject): string;
  summarizeArgs(args: JsonObject, privateArgs: readonly string[]): string;
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
  readonly changes: WorkspaceChanges;
  readonly jobs: JobTable;
  readonly artifacts: ArtifactStore;
  readonly ast: AstIndex | undefined;
  /** What rules found earlier, by content, and which trees passed. */
  readonly findings: FindingCache;
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
