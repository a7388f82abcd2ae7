/** Freezes what one session may do: registry, ceiling, tools, routes, rules, approvals. Done once, when it opens. */
import { type PolicyExplanation, ToolError } from '@tool-runtime/protocol';
import type { SessionParts } from '../call/state/session-parts.ts';
import { readOnlyView } from '../call/tool-context/execution-context.ts';
import type { SessionChanges } from '../changes/change-set.ts';
import type { ToolArgSchema } from '../contracts/annotations.ts';
import type { ArtifactStore } from '../contracts/artifacts.ts';
import type { AstIndex } from '../contracts/ast.ts';
import type { Cassette } from '../contracts/cassette.ts';
import type { Clock } from '../contracts/clock.ts';
import type { StagedTree } from '../contracts/commands.ts';
import type { Coordinator } from '../contracts/coordinator.ts';
import type { EffectLedger } from '../contracts/effect-ledger.ts';
import type { OpenHttpClient } from '../contracts/http.ts';
import type { JournalStore } from '../contracts/journal.ts';
import type { LockTable } from '../contracts/locks.ts';
import type { ApprovalDispatcher, BudgetPort, Hook, ToolPolicy } from '../contracts/policy.ts';
import type { Registry, RegistryText } from '../contracts/registry.ts';
import type { OpenFindingCache, RuleDefinition } from '../contracts/rule.ts';
import type { ArgsKeeper } from '../contracts/sealed-args.ts';
import type { CallTelemetry } from '../contracts/telemetry.ts';
import type { AnyTool } from '../contracts/tool.ts';
import type { SessionWorkspace } from '../contracts/workspace.ts';
import type { CoordinatorBreakers } from '../coordinator/circuit-breaker.ts';
import { createSessionCoordinator } from '../coordinator/session-coordinator.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { Metrics } from '../events/metrics.ts';
import { createMetricsReporter } from '../events/roll-up.ts';
import type { ReconciledCall } from '../journal/reconcile.ts';
import { createArgsSummarizer } from '../journal/recorded-args.ts';
import type { RecoveryLog } from '../journal/recovery-log.ts';
import type { CompiledToolFacts } from '../package/compile-package.ts';
import type { DepthBudget } from '../package/depth-budget.ts';
import type { HostExecutor } from '../package/executor-registry.ts';
import { buildSnapshot } from '../package/registry-snapshot.ts';
import type { SessionPrograms } from '../platform/commands/session-programs.ts';
import type { FairSlots } from '../platform/fair-slots.ts';
import type { FileWorkspace } from '../platform/files/workspace.ts';
import type { Spawner } from '../platform/processes/spawned-process.ts';
import type { SealedArgs } from '../platform/state/sealed-args.ts';
import type { TransactionFiles } from '../platform/state/transaction-files.ts';
import { createApprovalBroker } from '../policy/approval-broker.ts';
import { compileApprovalPolicy } from '../policy/approval-policy.ts';
import { compileCeiling } from '../policy/check-ceiling.ts';
import { compileHooks } from '../policy/hook-set.ts';
import { compileRules } from '../policy/rule-set.ts';
import { validateSurface } from '../policy/surface.ts';
import { redactError } from '../redaction/redact-error.ts';
import { redactingArtifacts, redactingEvents, redactingJournal } from '../redaction/redacting-ports.ts';
import type { Redactor } from '../redaction/redactor.ts';
import { type ChildGrant, grantedTools } from './child-grant.ts';
import type { PackageOrder, SessionPackage } from './compile-tools.ts';
import { chooseTools, compileTool } from './compile-tools.ts';
import { type ChildBinding, childTools } from './family.ts';
import type { WorkspaceJobs } from './job-table.ts';
import { createJobTable } from './job-table.ts';
import type { LoopShare } from './requests.ts';
import type { SessionBudget } from './session-budget.ts';
import { createTransactions } from './transactions.ts';

/** What all sessions of a runtime share. */
export interface RuntimeParts {
  readonly instanceId: string;
  readonly isDead: SessionParts['isDead'];
  reconcile(): Promise<readonly ReconciledCall[]>;
  readonly tools: readonly AnyTool[];
  readonly toolFacts: (tool: AnyTool) => CompiledToolFacts;
  readonly packageOf: (order: PackageOrder) => SessionPackage;
  readonly rules: readonly RuleDefinition[];
  readonly hooks: readonly Hook[];
  readonly policy: ToolPolicy | undefined;
  readonly dispatcher: ApprovalDispatcher | undefined;
  readonly budget: BudgetPort | undefined;
  readonly coordinator: Coordinator | undefined;
  /** What sessions learned about the coordinator, so that a dead one is waited for once and not by each. */
  readonly breakers: CoordinatorBreakers;
  readonly journal: JournalStore;
  readonly recovery: RecoveryLog;
  readonly cassette: Cassette | undefined;
  readonly ledger: EffectLedger | undefined;
  readonly locks: LockTable;
  readonly workspace: SessionWorkspace;
  readonly changes: SessionChanges;
  /** The same for a folder of the workspace. */
  changesOf(folder: FileWorkspace, prefix: string): SessionChanges;
  /** The files of a transaction. */
  openStage(tree: StagedTree): OpenStage;
  readonly transactionFiles: TransactionFiles;
  readonly sealedArgs: SealedArgs;
  /** The workspace is a folder of a larger one, whose code index cannot be asked from here. */
  readonly isFolder: boolean;
  /** Where it is in the workspace that path rules are written for; `.` for all of it. */
  readonly folderPrefix: string;
  /** Tools whose programs live as long as the runtime and see its whole workspace. */
  readonly wholeWorkspaceTools: ReadonlySet<string>;
  /** A client that reaches these registry entries and nothing else, and those of the second list with credentials in the clear. */
  createHttp(allowedDomains: readonly string[], insecureCredentials: readonly string[]): OpenHttpClient;
  /**
   * The registry that holds under both. Throws E_POLICY when the second asks for more, E_VALIDATION_FAIL when its
   * examples do not hold.
   */
  narrowRegistry(
    host: Registry,
    requested: { readonly text: string; readonly file: string } | undefined,
  ): Promise<Registry>;
  /** What a registry still allows under those of another host; never refused for what only the other one allows. */
  registryUnder(host: Registry, others: readonly RegistryText[]): Promise<Registry>;
  /** Undefined: arguments are not kept. `isPart`: of a session that has only a part of what its registry gives. */
  sealArgs(
    redactor: Redactor,
    session: { readonly registry: Registry; readonly isPart: boolean },
  ): ArgsKeeper | undefined;
  /** What a tool declares about its arguments; nothing for an unknown one. */
  schemaOf(tool: string): ToolArgSchema;
  /** Throws E_VALIDATION_FAIL for a registry whose examples do not hold. */
  requireExamples(registry: Registry): Promise<void>;
  /** What the gates say to a call of this session; see `Session.explain`. */
  explain(call: ProposedCall, session: SessionParts): Promise<PolicyExplanation>;
  /** The same runtime on a folder of its workspace: files, commands, git and the code index end there. */
  openFolder(folder: string): Promise<OpenFolder>;
  /** Commands and git inside the sandbox this registry asks for. */
  createPrograms(registry: Registry, session: Pick<SessionIdentity, 'actor' | 'sessionId'>): SessionPrograms;
  /** Commands of all sessions that run at once. */
  readonly commandSlots: FairSlots;
  readonly loop: LoopShare;
  /** Starts the programs of all sessions. */
  readonly spawner: () => Promise<Spawner>;
  readonly workspaceJobs: WorkspaceJobs;
  readonly artifacts: ArtifactStore;
  readonly ast: AstIndex | undefined;
  readonly findings: OpenFindingCache;
  readonly events: EventBus;
  readonly metrics: Metrics;
  readonly telemetry: CallTelemetry | undefined;
  /** Executors of the embedding program, by ref. */
  readonly executors: ReadonlyMap<string, HostExecutor>;
  readonly clock: Clock;
  newId(): string;
  readonly hashArgs: SessionParts['hashArgs'];
  /** Knows the secrets of the host; each session has one of its own that learns more. */
  readonly redactor: Redactor;
  readonly reportUnexpected: SessionParts['reportUnexpected'];
}

/** A call that is only proposed. */
export interface ProposedCall {
  readonly tool: string;
  readonly args: unknown;
}

export interface OpenStage {
  readonly workspace: SessionWorkspace;
  readonly changes: SessionChanges;
  close(): void;
}

export interface OpenFolder {
  readonly runtime: RuntimeParts;
  close(): Promise<void>;
}

export interface SessionIdentity {
  readonly sessionId: string;
  readonly actor: string;
  readonly client: string;
  /** Already narrowed to what this session may have. */
  readonly registry: Registry;
  readonly budget: SessionBudget;
  readonly depth: DepthBudget;
  /** Set for a child: its package is cut from its parent's, and there is nothing else it could call. */
  readonly child: ChildBinding | undefined;
  /** Set for a child of a session on another host. */
  readonly grant?: ChildGrant | undefined;
  readonly approvals?: 'none' | undefined;
}

export function compileSession(identity: SessionIdentity, runtime: RuntimeParts): SessionParts {
  const { registry, child, sessionId, actor, client } = identity;
  const ceiling = compileCeiling(registry.ceiling);
  const isChild = child !== undefined || identity.grant !== undefined;
  const offer = offerTo(identity, runtime);
  const { usable, hidden } = chooseTools({
    tools: offer.tools,
    registry,
    executors: runtime.executors,
    ceiling,
    codeIndex: runtime.isFolder ? 'elsewhere' : runtime.ast === undefined ? 'missing' : 'here',
    beyondFolder: runtime.isFolder ? runtime.wholeWorkspaceTools : new Set(),
  });
  checkSurface(usable, registry, runtime);
  const { package: own, snapshot } = packageFor(identity, usable, runtime);
  const tools = new Map(
    usable.map((tool) => {
      const route = snapshot.findByName(tool.name);
      if (route === undefined) throw new TypeError(`No route was compiled: ${tool.name}`);
      return [tool.name, compileTool(tool, route, { registry, executors: runtime.executors })] as const;
    }),
  );
  const exits = guardExits((child?.parent.parts.redactor ?? runtime.redactor).fork(), runtime);
  const parts: SessionParts = {
    ...sharedParts(runtime),
    ...exits,
    sealed: runtime.sealArgs(exits.redactor, { registry, isPart: isChild || runtime.isFolder }),
    schemaOf: runtime.schemaOf,
    transactions: createTransactions({
      parts: () => parts,
      openStage: runtime.openStage,
      refused: runtime.wholeWorkspaceTools,
      files: runtime.transactionFiles,
      seesAll: !isChild && !runtime.isFolder,
    }),
    sessionId,
    actor,
    client,
    registry,
    source: { kind: isChild ? 'subagent' : 'user', id: actor, trust: 'user_provided', privacy: 'internal' },
    package: own,
    snapshot,
    tools,
    hidden: new Map([...offer.withheld, ...hidden]),
    recorders: recordersOf(runtime.tools),
    ceiling,
    hooks: compileHooks(runtime.hooks),
    rules: compileRules(runtime.rules, registry, (tool) => tools.get(tool)?.annotations.arg_schema),
    approvals: compileApprovalPolicy(registry.approvals),
    broker: createApprovalBroker({
      dispatcher: identity.approvals === 'none' ? undefined : runtime.dispatcher,
      journalAppend: (records) => exits.journal.append(records),
      clock: runtime.clock,
      newId: runtime.newId,
    }),
    budgets: [identity.budget, ...(runtime.budget === undefined ? [] : [runtime.budget])],
    coordinator: createSessionCoordinator({
      ...runtime,
      ...exits,
      settings: registry.coordinator,
      client: identity.client,
    }),
    readOnlyWorkspace: readOnlyView(runtime.workspace),
    http: runtime.createHttp(registry.allowedDomains, registry.insecureCredentials),
    programs: runtime.createPrograms(registry, identity),
    jobs: createJobTable({
      ...runtime,
      actor,
      maxJobs: registry.limits.max_jobs,
      // A child ends with its parent, and so does all it started.
      maxKept: isChild ? 0 : registry.limits.max_kept_jobs,
    }),
    reporter: createMetricsReporter({
      sessionId: identity.sessionId,
      events: exits.events,
      metrics: runtime.metrics,
    }),
  };
  return parts;
}

function offerTo({ child, grant }: SessionIdentity, runtime: RuntimeParts) {
  if (child !== undefined) return childTools(child, runtime.tools);
  if (grant !== undefined) return grantedTools(grant, runtime.tools, runtime);
  return { tools: runtime.tools, withheld: new Map<string, ToolError>() };
}

function recordersOf(tools: readonly AnyTool[]): ReadonlyMap<string, AnyTool> {
  return new Map(tools.filter((tool) => tool.recordRefusal !== undefined).map((tool) => [tool.name, tool]));
}

function packageFor(identity: SessionIdentity, usable: readonly AnyTool[], runtime: RuntimeParts): SessionPackage {
  const { registry, actor, child } = identity;
  if (child !== undefined) {
    const { package: cut, routes } = child.prepared.built;
    return { package: cut, snapshot: buildSnapshot(cut, routes) };
  }
  const tools = usable.map(runtime.toolFacts);
  return runtime.packageOf({ agentId: actor, registryFingerprint: registry.fingerprint, tools });
}

function sharedParts(runtime: RuntimeParts) {
  const { instanceId, policy, recovery, ledger, locks, workspace, ast, findings, metrics, clock } = runtime;
  const { folderPrefix, telemetry, newId, hashArgs, isDead, reconcile, cassette } = runtime;
  return {
    instanceId,
    isDead,
    reconcile,
    policy,
    recovery,
    cassette,
    ledger,
    locks,
    workspace,
    folderPrefix,
    ast,
    findings,
    metrics,
    telemetry,
    clock,
    newId,
    hashArgs,
  };
}

type Exits = Pick<RuntimeParts, 'journal' | 'events' | 'artifacts' | 'changes' | 'reportUnexpected'>;

/** Everything through which something leaves a session, behind its one redactor. */
function guardExits(redactor: Redactor, runtime: Exits) {
  return {
    redactor,
    redact: redactor.redactText,
    summarizeArgs: createArgsSummarizer(redactor),
    journal: redactingJournal(runtime.journal, redactor),
    events: redactingEvents(runtime.events, redactor),
    artifacts: redactingArtifacts(runtime.artifacts, redactor),
    changes: runtime.changes.keepingOnly((bytes) => redactor.known.isEmpty || redactor.known.bytes(bytes) === bytes),
    reportUnexpected: (error: ToolError) => runtime.reportUnexpected(redactError(error, redactor)),
  };
}

/**
 * Whether the tools of a session and its policy fit together, judged before it opens.
 *
 * A surface with errors never opens: better no session than one whose tools contradict its policy.
 */
function checkSurface(tools: readonly AnyTool[], registry: Registry, { hooks }: Pick<RuntimeParts, 'hooks'>): void {
  const report = validateSurface({
    tools,
    ceiling: registry.ceiling,
    approvals: registry.approvals,
    hooks,
  });
  if (report.valid) return;
  const errors = report.diagnostics.filter((diagnostic) => diagnostic.severity === 'error');
  throw new ToolError('E_VALIDATION_FAIL', `Tools and policy do not fit: ${errors[0]?.message ?? 'unknown'}`, {
    details: { diagnostics: errors.map((diagnostic) => ({ ...diagnostic })) },
  });
}
