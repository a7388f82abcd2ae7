/** The parts all sessions of a runtime share, made once: ports given by tests and embedding programs, else our own. */
import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { ToolError } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { subjectReader } from './call/tool-context/read-path.ts';
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
import { createExecutorRegistry, type ExecutorContext, type HostExecutor } from './package/executor-registry.ts';
import { lazySessionPrograms, lazySpawner } from './platform/commands/lazy-session-programs.ts';
import { createChangeStore } from './platform/commit/change-store.ts';
import { createRedoLog, type RedoLog } from './platform/commit/redo-log.ts';
import { createWorkspaceChanges } from './platform/commit/workspace-changes.ts';
import type { Disk } from './platform/descriptors/disk.ts';
import type { Root } from './platform/descriptors/root.ts';
import { FairSlots } from './platform/fair-slots.ts';
import type { FileWorkspace } from './platform/files/workspace.ts';
import { lazyHttpClient } from './platform/network/lazy-http-client.ts';
import { sweepOverlays } from './platform/overlay/overlay-folders.ts';
import { currentInstance, isAlive } from './platform/processes/process-identity.ts';
import type { GoverningFiles } from './platform/protection/governing-files.ts';
import { endLostSandboxes } from './platform/sandbox/lost-sandboxes.ts';
import { createArtifactFiles } from './platform/state/artifact-files.ts';
import type { StateFolder } from './platform/state/state-folder.ts';
import { createSystemClock } from './platform/system-clock.ts';
import type { KnownNames } from './registry/check-names.ts';
import { narrowedRegistry } from './registry-in-force.ts';
import type { CheckedOptions, RuntimeOptions } from './runtime-options.ts';
import type { RuntimeParts } from './session/compile-session.ts';
import { createToolFacts } from './session/compile-tools.ts';
import { createPackageMemo } from './session/package-memo.ts';
import { createPathLocks } from './session/path-locks.ts';
import { WorkspaceJobs } from './session/workspace-jobs.ts';

export interface Places {
  readonly root: Root;
  readonly workspace: FileWorkspace;
  readonly state: StateFolder;
  readonly governing: GoverningFiles;
  readonly disk: Disk;
}

const MIB = 1024 * 1024;

interface Wiring extends Places, Pick<RuntimeParts, 'tools' | 'rules' | 'ast' | 'redactor'> {
  /** The operator's. */
  readonly registry: Registry;
  readonly known: KnownNames;
  readonly source: OpenToolSource;
}

export async function wireParts(
  options: CheckedOptions,
  { root, workspace, state, governing, disk, known, source, registry, redactor, ...brought }: Wiring,
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
    breakers: createBreakers(clock),
    journal,
    recovery: createRecoveryLog(journal),
    locks: createPathLocks(),
    workspace,
    changes: createWorkspaceChanges({ ...changeSetting, ground: workspace.ground, prefix: '.' }),
    changesOf: (folder, prefix) => createWorkspaceChanges({ ...changeSetting, ground: folder.ground, prefix }),
    createHttp: (allowedDomains, insecureCredentials) => lazyHttpClient({ allowedDomains, insecureCredentials }),
    commandSlots,
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
    narrowRegistry: (host, requested) => narrowedRegistry(host, requested, known),
    async openFolder(folder) {
      const { openFolder } = await import('./open-folder.ts');
      return openFolder(folder, { parts: wired, root, state: state.path, governing, disk });
    },
    isFolder: false,
    folderPrefix: '.',
    wholeWorkspaceTools: new Set(source.tools.map(({ name }) => name)),
    artifacts: createArtifactFiles(state.path, disk),
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
