/** The parts all sessions of a runtime share, made once: ports given by tests and embedding programs, else our own. */
import { randomUUID } from 'node:crypto';
import { subjectReader } from './call/read-subject.ts';
import type { OpenToolSource } from './contracts/tool-source.ts';
import { createBreakers } from './coordinator/circuit-breaker.ts';
import { createEventBus } from './events/event-bus.ts';
import { createMetrics } from './events/metrics.ts';
import { createArgsHasher } from './journal/args-hash.ts';
import { type ReconciledCall, reconcile } from './journal/reconcile.ts';
import { createRecoveryLog } from './journal/recovery-log.ts';
import { createRedactor } from './journal/redact.ts';
import { createArgsSummarizer } from './journal/summarize-args.ts';
import { createPathLocks } from './locks/path-locks.ts';
import { createArtifactFiles } from './platform/artifact-files.ts';
import { lazyHttpClient } from './platform/lazy-http-client.ts';
import { lazySessionPrograms } from './platform/lazy-session-programs.ts';
import { endLostWalls } from './platform/lost-walls.ts';
import { currentInstance, isAlive } from './platform/process-identity.ts';
import type { Root } from './platform/root.ts';
import type { StateFolder } from './platform/state-folder.ts';
import { createSystemClock } from './platform/system-clock.ts';
import type { FileWorkspace } from './platform/workspace.ts';
import { allowAllPolicy } from './policy/allow-all-policy.ts';
import type { KnownNames } from './registry/check-names.ts';
import { narrowedRegistry, REGISTRY_FILE } from './registry-in-force.ts';
import type { RuntimeOptions } from './runtime.ts';
import type { RuntimeParts } from './session/compile-session.ts';
import { createToolFacts } from './session/compile-tools.ts';
import { createPackageMemo } from './session/package-memo.ts';
import { createSqliteFindings } from './stores/findings-sqlite.ts';
import { openSqliteJournal } from './stores/journal-sqlite.ts';

/** What decides over tools is not for tools to change. */
export const PROTECTED_NAMES = [REGISTRY_FILE];

export interface Places {
  readonly root: Root;
  readonly workspace: FileWorkspace;
  readonly state: StateFolder;
}

interface Wiring extends Places, Pick<RuntimeParts, 'tools' | 'rules' | 'ast'> {
  readonly known: KnownNames;
  readonly source: OpenToolSource;
}

export function wireParts(
  options: RuntimeOptions,
  { root, workspace, state, known, source, ...brought }: Wiring,
): RuntimeParts {
  const { ports = {} } = options;
  const clock = ports.clock ?? createSystemClock();
  const journal = ports.journal ?? openSqliteJournal(state, { durability: options.durability ?? 'normal', clock });
  const instance = currentInstance();
  journal.enroll(instance);
  const redactor = createRedactor({ secrets: options.secrets ?? [] });
  const parts: RuntimeParts = {
    instanceId: instance.id,
    isDead: (id) => id !== wired.instanceId && !journal.instances().some((other) => other.id === id && isAlive(other)),
    reconcile: () => reconcileCalls(wired, workspace, state.path),
    ...brought,
    toolFacts: createToolFacts(),
    packageOf: createPackageMemo(),
    hooks: options.hooks ?? [],
    policy: options.policy ?? allowAllPolicy(),
    dispatcher: options.approvals,
    budget: options.budget,
    coordinator: options.coordinator,
    breakers: createBreakers(clock),
    journal,
    recovery: createRecoveryLog(journal),
    locks: createPathLocks(),
    workspace,
    createHttp: (allowedDomains) => lazyHttpClient({ allowedDomains }),
    createPrograms: (registry, actor) =>
      lazySessionPrograms({ workspace: options.workspace, state: state.path, registry, actor }),
    narrowRegistry: (host, requested) => narrowedRegistry(host, requested, known),
    async openFolder(folder) {
      const { openFolder } = await import('./open-folder.ts');
      return openFolder(folder, { parts: wired, root, state: state.path, protectedNames: PROTECTED_NAMES });
    },
    isFolder: false,
    wholeWorkspaceTools: new Set(source.tools.map(({ name }) => name)),
    artifacts: createArtifactFiles(state.path),
    findings: createSqliteFindings(state),
    events: createEventBus(),
    metrics: createMetrics(),
    telemetry: options.telemetry,
    clock,
    newId: ports.newId ?? randomUUID,
    hashArgs: createArgsHasher(state.key()),
    summarizeArgs: createArgsSummarizer(redactor),
    redact: redactor.redactText,
    reportUnexpected: options.onUnexpected ?? (() => {}),
  };
  const wired = ports.wrapParts?.(parts) ?? parts;
  return wired;
}

/** Programs of dead processes end before anything is compared: what they would still do must not come later. */
async function reconcileCalls(
  { journal, clock, instanceId: self }: RuntimeParts,
  workspace: FileWorkspace,
  state: string,
): Promise<readonly ReconciledCall[]> {
  if (journal.instances().some((instance) => instance.id !== self && !isAlive(instance))) endLostWalls(state);
  return reconcile(journal, { clock, isAlive, self, reader: () => subjectReader(workspace, undefined) });
}
