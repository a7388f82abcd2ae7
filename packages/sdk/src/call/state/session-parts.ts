/**
 * Everything a call may need, as one read-only record made when the session opens.
 *
 * No class and no lookups by name: a stage takes what it names. Two sessions in one process hold two of these.
 */
import type { JsonObject, ToolError } from '@tool-runtime/protocol';
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
  readonly tool: AnyTool;
  readonly route: ToolRoute;
  readonly annotations: ToolAnnotations;
  readonly annotated: boolean;
  readonly staticProfile: CallProfile;
  readonly constraints: ArgConstraintCheck;
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
}

export interface SessionParts {
  readonly sessionId: string;
  readonly actor: string;
  readonly client: string;
  readonly source: SourceRef;
  readonly instanceId: string;
  /** Whether that process has ended. Programs it left behind are ended first, so that nothing of it happens later. */
  isDead(instanceId: string): boolean;
  /** Finds calls of dead processes and says so in the journal. */
  reconcile(): Promise<unknown>;
  readonly registry: Registry;
  /** What the snapshot was built from; children are cut from it. */
  readonly package: RuntimePackage;
  readonly snapshot: ToolRegistrySnapshot;
  readonly tools: ReadonlyMap<string, CompiledTool>;
  /** Known tools this session may not use, with the refusal that says why. */
  readonly hidden: ReadonlyMap<string, ToolError>;
  /** Tools that hear of refused attempts, usable here or not. */
  readonly recorders: ReadonlyMap<string, AnyTool>;
  readonly ceiling: Ceiling;
  readonly hooks: HookSet;
  readonly rules: RuleSet;
  /** Undefined: the policy port allows everything. */
  readonly policy: ToolPolicy | undefined;
  readonly approvals: ApprovalJudge;
  readonly broker: ApprovalBroker;
  readonly budgets: readonly BudgetPort[];
  /** Undefined: there is none and none is required. */
  readonly coordinator: SessionCoordinator | undefined;
  readonly locks: LockTable;
  readonly journal: JournalStore;
  readonly recovery: RecoveryLog;
  readonly workspace: SessionWorkspace;
  /** Where it is in the workspace that path rules are written for; `.` for all of it. */
  readonly folderPrefix: string;
  readonly readOnlyWorkspace: Workspace;
  /** Bound to the registry's allowlist; handed to calls of level `network` only. */
  readonly http: OpenHttpClient;
  /** Commands and git, behind the session's wall. */
  readonly programs: SessionPrograms;
  readonly jobs: JobTable;
  readonly artifacts: ArtifactStore;
  readonly ast: AstIndex | undefined;
  /** What rules found earlier, by content, and which trees passed. */
  readonly findings: FindingCache;
  readonly events: EventBus;
  readonly metrics: Metrics;
  readonly reporter: MetricsReporter;
  readonly telemetry: CallTelemetry | undefined;
  readonly clock: Clock;
  newId(): string;
  hashArgs(tool: string, args: JsonObject): string;
  summarizeArgs(args: JsonObject, privateArgs: readonly string[]): string;
  /** Knows the secrets of the runtime, and those that calls of this session brought along. */
  readonly redactor: Redactor;
  redact(text: string): string;
  /** Tells the embedding program about failures that are nobody's fault but ours; callers see only E_INTERNAL. */
  reportUnexpected(error: ToolError): void;
}
