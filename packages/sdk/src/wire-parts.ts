/** The parts all sessions of a runtime share, made once: ports given by tests and embedding programs, else our own. */
import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { ToolError, toToolError } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { subjectReader } from './call/tool-context/read-path.ts';
import { completeAnnotations } from './contracts/annotations.ts';
import type { ArtifactStore, LocalArtifacts } from './contracts/artifacts.ts';
import type { Registry } from './contracts/registry.ts';
import type { OpenToolSource } from './contracts/tool-source.ts';
import { createBreakers } from './coordinator/circuit-breaker.ts';
import { createEventBus } from './events/event-bus.ts';
import { createMetrics } from './events/metrics.ts';
import { isGone, type ReconciledCall, reconcile } from './journal/reconcile.ts';
import { createArgsHasher } from './journal/recorded-args.ts';
import { createRecoveryLog } from './journal/recovery-log.ts';
import { createSqliteFindings } from './journal/store/findings-sqlite.ts';
import { openJournal } from './journal/store/journal-sqlite.ts';
import { openStage } from './open-stage.ts';
import { createExecutorRegistry, type ExecutorContext, type HostExecutor } from './package/executor-registry.ts';
import { lazySessionPrograms, lazySpawner } from './platform/commands/lazy-session-programs.ts';
import { createChangeStore } from './platform/commit/change-store.ts';
import { createRedoLog, type RedoLog } from './platform/commit/redo-log.ts';
import { createSessionChanges } from './platform/commit/workspace-changes.ts';
import type { Disk } from './platform/descriptors/disk.ts';
import type { Root } from './platform/descriptors/root.ts';
import { purposeKey } from './platform/digest.ts';
import { FairSlots } from './platform/fair-slots.ts';
import type { FileWorkspace } from './platform/files/workspace.ts';
import { lazyHttpClient } from './platform/network/lazy-http-client.ts';
import { sweepOverlays } from './platform/overlay/overlay-folders.ts';
import { currentInstance, isAlive } from './platform/processes/process-identity.ts';
import type { GoverningFiles } from './platform/protection/governing-files.ts';
import { endLostSandboxes } from './platform/sandbox/lost-sandboxes.ts';
import { createArtifactFiles } from './platform/state/artifact-files.ts';
import { openSealedArgs, SEALING_PURPOSE, type SealedArgsOptions } from './platform/state/sealed-args.ts';
import type { StateFolder } from './platform/state/state-folder.ts';
import { createTransactionFiles } from './platform/state/transaction-files.ts';
import { createSystemClock } from './platform/system-clock.ts';
import type { KnownNames } from './registry/check-names.ts';
import { narrowedRegistry, type RegistryInForce, registryUnder } from './registry-in-force.ts';
import type { CheckedOptions, RuntimeOptions } from './runtime-options.ts';
import type { RuntimeParts } from './session/compile-session.ts';
import { createPackageMemo, createToolFacts } from './session/compile-tools.ts';
import { WorkspaceJobs } from './session/job-table.ts';
import { createPathLocks } from './session/path-locks.ts';
import { LoopShare } from './session/requests.ts';

export interface Places {
  readonly root: Root;
  readonly workspace: FileWorkspace;
  readonly state: StateFolder;
  readonly governing: GoverningFiles;
  readonly disk: Disk;
}

const MIB = 1024 * 1024;

interface Wiring extends Places, Pick<RuntimeParts, 'tools' | 'rules' | 'ast' | 'redactor' | 'cassette'> {
  /** The operator's. */
  readonly registry: Registry;
  readonly written: Pick<RegistryInForce, 'source' | 'isTrusted'>;
  readonly known: KnownNames;
  readonly source: OpenToolSource;
}

export async function wireParts(
  options: CheckedOptions,
  { root, workspace, state, governing, disk, known, source, registry, written, redactor, ...brought }: Wiring,
): Promise<RuntimeParts> {
  const { ports = {} } = options;
  const clock = ports.clock ?? createSystemClock();
  const journal = ports.journal ?? (await openJournal(state, { durability: registry.durability, clock }));
  const instance = currentInstance();
  try {
    await journal.enroll(instance);
  } catch (thrown) {
    await journal.close();
    throw thrown;
  }
  const { max_file_mib, max_mib } = registry.changes;
  const changeBounds = { maxFileBytes: max_file_mib * MIB, maxBytes: max_mib * MIB };
  const redo = createRedoLog(state.path, disk);
  const changeSetting = {
    ...changeBounds,
    redo,
    disk,
    isRecording: registry.changes.record,
    store: createChangeStore(state, changeBounds),
  };
  const commandSlots = new FairSlots(registry.limits.max_commands ?? Math.max(4, 2 * availableParallelism()));
  const spawner = lazySpawner();
  const parts: RuntimeParts = {
    spawner,
    ...sealing(registry, state, { clock, report: (thrown) => wired.reportUnexpected(toToolError(thrown)) }),
    schemaOf: argSchemas(brought.tools),
    instanceId: instance.id,
    isDead: (id) => isGone(id, journal, { isAlive, self: wired.instanceId }),
    reconcile: () => reconcileCalls(wired, { root, workspace, state, redo }),
    ...brought,
    toolFacts: createToolFacts(),
    packageOf: createPackageMemo(),
    hooks: options.hooks ?? [],
    policy: options.policy,
    dispatcher: options.approvals,
    budget: options.budget,
    coordinator: options.coordinator,
    ledger: options.ledger,
    breakers: createBreakers(clock),
    journal,
    recovery: createRecoveryLog(journal),
    locks: createPathLocks(),
    workspace,
    changes: createSessionChanges({ ...changeSetting, ground: workspace.ground, prefix: '.' }),
    changesOf: (folder, prefix) => createSessionChanges({ ...changeSetting, ground: folder.ground, prefix }),
    openStage: (tree) =>
      openStage(tree, { root, governing, extraRoots: options.extraRoots ?? [], prefix: '.', changes: changeSetting }),
    transactionFiles: createTransactionFiles(state.path),
    createHttp: (allowedDomains, insecureCredentials) => lazyHttpClient({ allowedDomains, insecureCredentials }),
    commandSlots,
    loop: new LoopShare(),
    workspaceJobs: new WorkspaceJobs(registry.limits.max_workspace_jobs),
    createPrograms: (sessionRegistry, { actor, sessionId }) =>
      lazySessionPrograms({
        workspace: root,
        state: state.path,
        registry: sessionRegistry,
        actor,
        governing: governing.places,
        slots: { shared: commandSlots, owner: sessionId },
        spawner,
      }),
    ...rehearsing({ registry, written, known, examples: options.examples ?? 'require' }, () => wired),
    async openFolder(folder) {
      const { openFolder } = await import('./open-folder.ts');
      return openFolder(folder, { parts: wired, root, state: state.path, governing, disk, changes: changeSetting });
    },
    isFolder: false,
    folderPrefix: '.',
    wholeWorkspaceTools: new Set(source.tools.map(({ name }) => name)),
    artifacts: artifactsOf(createArtifactFiles(state.path, disk), options),
    findings: createSqliteFindings(state),
    events: createEventBus(),
    metrics: createMetrics(),
    telemetry: options.telemetry,
    executors: executorsOf(options.executors ?? []),
    clock,
    newId: ports.newId ?? randomUUID,
    hashArgs: createArgsHasher(state.key()),
    redactor,
    reportUnexpected: carefully(options.onUnexpected),
  };
  const wired = ports.wrapParts?.(parts) ?? parts;
  return wired;
}

/** A listener that throws must not change the call it hears about, so its error is dropped. */
function carefully(onUnexpected: RuntimeOptions['onUnexpected']): RuntimeParts['reportUnexpected'] {
  return (error) => {
    try {
      onUnexpected?.(error);
    } catch {
      // Nothing to do: the error it was given has its place in the answer and on record.
    }
  };
}

/** Programs of dead processes end before anything is compared: what they would still do must not come later. */
async function reconcileCalls(
  { journal, clock, instanceId: self, reportUnexpected }: RuntimeParts,
  { root, workspace, state, redo }: Pick<Places, 'root' | 'workspace' | 'state'> & { readonly redo: RedoLog },
): Promise<readonly ReconciledCall[]> {
  const hasDead = journal.instances().some((instance) => instance.id !== self && !isAlive(instance));
  if (hasDead || redo.left().length > 0) {
    endLostSandboxes(state.path);
    const { clearWorkspaceLocks } = await import('./platform/git/git-writes.ts');
    await clearWorkspaceLocks(state.path, root.path);
    for (const { skipped } of await redo.workOff({ noteFolder: root.noteFolder })) {
      if (skipped.length > 0) reportUnexpected(finishedInPart(skipped));
    }
    await sweepOverlays(state.path);
    await workspace.sweepNoted();
  }
  return reconcile(journal, { clock, isAlive, self, reader: () => subjectReader(workspace, undefined) });
}

interface RehearsedRegistry extends Pick<Wiring, 'registry' | 'written' | 'known'> {
  readonly examples: 'require' | 'ignore';
}

/** What judges calls that are not made. Loaded when there is something to judge. */
function rehearsing(
  { registry, written, known, examples }: RehearsedRegistry,
  runtime: () => RuntimeParts,
): Pick<RuntimeParts, 'explain' | 'narrowRegistry' | 'registryUnder' | 'requireExamples'> {
  async function requireExamples(judged: Registry): Promise<void> {
    if (judged.examples.length === 0 || examples === 'ignore') return;
    await (await import('./rehearsal/check-examples.ts')).requireExamples(judged, runtime());
  }
  return {
    requireExamples,
    async narrowRegistry(host, requested) {
      const narrowed = await narrowedRegistry(host, requested, known);
      if (narrowed !== host) await requireExamples(narrowed);
      return narrowed;
    },
    registryUnder: (host, others) => registryUnder(host, others, known),
    async explain(call, session) {
      const { explainCall } = await import('./rehearsal/explain-call.ts');
      const ground = { runtime: runtime(), known, ...written, registry };
      return explainCall(call, session, session.registry === registry ? ground : undefined);
    },
  };
}

function sealing(
  registry: Registry,
  state: StateFolder,
  how: Pick<SealedArgsOptions, 'clock' | 'report'>,
): Pick<RuntimeParts, 'sealedArgs' | 'sealArgs'> {
  const { keep, max_kib } = registry.sealedArgs;
  const key = Buffer.from(purposeKey(state.key(), SEALING_PURPOSE), 'hex');
  const where = { state: state.path, key };
  const sealedArgs = openSealedArgs({ ...where, ...how, isKeeping: keep, maxBytes: max_kib * 1024 });
  return {
    sealedArgs,
    sealArgs: (redactor, { registry: own, isPart }) =>
      sealedArgs.forSession({ isNarrowed: isPart || own !== registry, redactor }),
  };
}

/** Worked out for a tool when it is asked for. */
function argSchemas(tools: RuntimeParts['tools']): RuntimeParts['schemaOf'] {
  return (tool) => completeAnnotations(tools.find(({ name }) => name === tool)?.annotations).arg_schema;
}

const MAX_NAMED = 20;

function finishedInPart(skipped: readonly string[]): ToolError {
  const shown = skipped.slice(0, MAX_NAMED).map((path) => safeText(path, 200));
  const more = skipped.length > shown.length ? ` and ${skipped.length - shown.length} more` : '';
  const message = `Commit of a killed process was finished, except for files that others changed since: ${shown.join(', ')}${more}`;
  return new ToolError('E_FILE_IO', message, {
    path: shown[0] ?? '',
    details: { reason: 'partly_changed', paths: shown, next: 'Compare these files with version control' },
  });
}

/** Throws a contract violation for an empty ref and for two executors under one. */
function executorsOf(given: readonly HostExecutor[]): ReadonlyMap<string, HostExecutor> {
  const registry = createExecutorRegistry<ExecutorContext>();
  for (const executor of given) registry.register(executor);
  return new Map(given.map((executor) => [executor.executorRef, executor]));
}

function artifactsOf(local: LocalArtifacts, { artifacts }: CheckedOptions): ArtifactStore {
  return artifacts === undefined ? local : artifacts(local);
}
