/**
 * createRuntime: opens what a runtime needs and puts it together; the shared parts themselves are made in wire-parts.ts.
 *
 * A runtime owns one workspace folder, one state folder and one journal. Sessions share these and nothing else.
 */
import { type CallChange, type ErrorEntry, toToolError } from '@tool-runtime/protocol';
import { changeOfCall } from './change-of-call.ts';
import type { OpenAst } from './contracts/ast.ts';
import type { CassetteState } from './contracts/cassette.ts';
import type { GoverningPlace } from './contracts/governing.ts';
import type {
  ChainHead,
  HeadFinding,
  ReadFilter,
  StoredRecord,
  VerifyOptions,
  VerifyReport,
} from './contracts/journal.ts';
import type { PruneOptions, PruneReport, RotateOptions, RotateReport } from './contracts/journal-rotation.ts';
import type { Registry } from './contracts/registry.ts';
import type { RuleDefinition } from './contracts/rule.ts';
import type { AnyTool } from './contracts/tool.ts';
import type { ForeignServer, OpenToolSource } from './contracts/tool-source.ts';
import type { EventBus } from './events/event-bus.ts';
import type { Metrics } from './events/metrics.ts';
import { governingPlaces } from './governing-places.ts';
import { headWarnings } from './journal/head-warnings.ts';
import type { ReconciledCall } from './journal/reconcile.ts';
import { createExternalTools, openAst, openSources, pluginOf } from './open-sources.ts';
import { openTape } from './open-tape.ts';
import type { WallCheck } from './platform/commands/sandbox-view.ts';
import { createRedoLog } from './platform/commit/redo-log.ts';
import { createDisk } from './platform/descriptors/disk.ts';
import { openRoot, type Root, type RootBackend } from './platform/descriptors/root.ts';
import { createWorkspace, type FileWorkspace } from './platform/files/workspace.ts';
import { createGoverningFiles } from './platform/protection/governing-files.ts';
import { refuseOtherEngines } from './platform/refuse-other-engines.ts';
import { createDailyStamp } from './platform/state/state-file.ts';
import { defaultStateFolder, openStateFolder } from './platform/state/state-folder.ts';
import { createUnfinishedFolders } from './platform/state/unfinished-folders.ts';
import { hostSecrets } from './redaction/host-secrets.ts';
import { createRedactor } from './redaction/redactor.ts';
import { knownNames, REGISTRY_FILE, registryInForce } from './registry-in-force.ts';
import { createPolicyRehearsal, type PolicyRehearsal } from './rehearsal/policy-rehearsal.ts';
import { keepRetention } from './retention.ts';
import * as builtInRules from './rules/catalog.ts';
import { type CheckedOptions, checkOptions, type RuntimeOptions, type SessionOptions } from './runtime-options.ts';
import { registryOfGrant } from './session/child-grant.ts';
import type { RuntimeParts } from './session/compile-session.ts';
import {
  type OpenSessionInput,
  openSession,
  previewSession,
  type SessionOwner,
  type SessionPreview,
} from './session/open-session.ts';
import type { Session } from './session/session.ts';
import * as builtInTools from './tools/catalog.ts';
import { type Places, wireParts } from './wire-parts.ts';
import { keepWitness, type Witness, witnessesOf } from './witness/keep-witness.ts';
import type { WitnessMeans } from './witness/witness-places.ts';

export type { RuntimeOptions, SessionOptions } from './runtime-options.ts';

const RECONCILE_EVERY_MS = 300_000;

export interface Runtime {
  readonly registry: Registry;
  /** What the operator should know about the registry. */
  readonly warnings: readonly ErrorEntry[];
  readonly pathBackend: RootBackend;
  /** How far the cassette is; undefined without one. */
  cassette(): CassetteState | undefined;
  /** Calls of processes that died, found and recorded when this runtime opened. */
  readonly unfinished: readonly ReconciledCall[];
  openSession(options?: SessionOptions): Promise<Session>;
  /** What such a session could use. Nothing is recorded or started. */
  preview(options?: SessionOptions): Promise<SessionPreview>;
  /** Whether commands can be sandboxed on this machine as the registry wants: tried, not guessed. */
  checkWall(): Promise<WallCheck>;
  /** Locks in the workspace's repository that no running process holds and no call of ours left; paths, oldest first. */
  staleGitLocks(): Promise<readonly string[]>;
  /** How many commits of killed processes could not be finished so far, as on a full disk. Each start tries again. */
  unfinishedCommits(): number;
  /** Finds calls of dead processes that have an intent and no result, and says so in the journal. Runs at start. */
  reconcile(): Promise<readonly ReconciledCall[]>;
  /** An operator's word on a call whose outcome is unknown; frees or settles its key. */
  resolvePending(callId: string, outcome: 'completed' | 'not_started', note: string): Promise<void>;
  records(filter?: ReadFilter): Iterable<StoredRecord>;
  /** What a call did to files, with known secrets masked; undefined for one that left no change set. */
  changeOf(sessionId: string, callId: string): Promise<CallChange | undefined>;
  head(): ChainHead;
  verify(anchor?: ChainHead, options?: VerifyOptions): VerifyReport;
  /** Moves old records into an archive in the state folder; `records({ archived: true })` still reads them. */
  rotateJournal(options: RotateOptions): Promise<RotateReport>;
  /** Deletes archives that need not be kept, oldest first, for good. */
  pruneJournal(options: PruneOptions): Promise<PruneReport>;
  /** Ids of the processes that have this journal open, this one among them. Those found dead at the start are gone. */
  instances(): readonly string[];
  /** Servers that the registry mounts, with what of their tools is approved and what waits. */
  servers(): readonly ForeignServer[];
  /** What the registry, or another one, would answer to calls. */
  readonly policy: PolicyRehearsal;
  /** The same for as long as the key of the journal is; another state folder has another. */
  readonly journalId: string;
  readonly events: EventBus;
  readonly metrics: Metrics;
  /** Ends all sessions after their running calls, then the journal. */
  close(): Promise<void>;
}

export async function createRuntime(given: RuntimeOptions): Promise<Runtime> {
  refuseOtherEngines(process.versions);
  const options = checkOptions(given);
  // Everything below begins at what is opened here: the path given may lead elsewhere later.
  const unfinished = createUnfinishedFolders();
  const root = openRoot(options.workspace, {
    backend: options.ports?.pathBackend ?? 'auto',
    noteFolder: unfinished.note,
    fence: options.ledger === undefined ? undefined : () => options.ledger?.checkFence(),
  });
  let workspace: FileWorkspace | undefined;
  try {
    const state = openStateFolder(options.state ?? defaultStateFolder(root.path, process.env), {
      workspace: root.path,
    });
    const governing = createGoverningFiles({
      names: [REGISTRY_FILE],
      places: governingPlaces({
        workspace: root.path,
        state: state.path,
        registryFile: fileOf(options.registry),
        added: [...(options.governing ?? []), ...cassettePlace(options)],
      }),
    });
    unfinished.keepIn(state.path);
    const disk = createDisk();
    workspace = createWorkspace(root, {
      governing,
      unfinished,
      disk,
      ...(options.extraRoots === undefined ? {} : { extraRoots: options.extraRoots }),
    });
    const close = () => {
      unfinished.close();
      root.close();
    };
    return await openRuntime(options, { root: { ...root, close }, workspace, state, governing, disk });
  } catch (thrown) {
    // A runtime that does not open leaves nothing open.
    workspace?.close();
    unfinished.close();
    root.close();
    throw thrown;
  }
}

/** Tools may read it, as they may read every file that is not secret, and not change it. */
function cassettePlace({ cassette }: CheckedOptions): readonly GoverningPlace[] {
  return cassette === undefined ? [] : [{ path: cassette.file, access: 'read' }];
}

function fileOf(registry: RuntimeOptions['registry']): string | undefined {
  return typeof registry === 'string' ? registry : undefined;
}

/** Options of the program that starts a runtime go with its registry: the stronger durability, its own retention. */
function withOptions(registry: Registry, { durability, retention }: RuntimeOptions): Registry {
  return Object.freeze({
    ...registry,
    durability: durability === 'full' ? durability : registry.durability,
    retention: Object.freeze({ ...registry.retention, ...retention }),
  });
}

async function openRuntime(options: CheckedOptions, places: Places): Promise<Runtime> {
  const { root, workspace, state, governing, disk } = places;
  const plugin = pluginOf(options.ast);
  const ownTools: readonly AnyTool[] = [
    ...Object.values(builtInTools),
    ...(plugin?.tools ?? []),
    ...(options.tools ?? []),
  ];
  const rules: readonly RuleDefinition[] = [
    ...Object.values(builtInRules),
    ...(plugin?.rules ?? []),
    ...(options.rules ?? []),
  ];
  const engines = new Set<'ast'>(options.ast === undefined ? [] : ['ast']);
  const ownNames = knownNames(ownTools, rules, engines);
  const toolPatterns = (options.sources ?? []).flatMap(({ toolNames = [] }) => toolNames);
  const written = await registryInForce(
    { operator: options.registry, workspace, state },
    { ...ownNames, toolPatterns },
  );
  const registry = withOptions(written.registry, options);
  if (registry.durability === 'full') disk.requireFull();
  const redactor = createRedactor({ secrets: [...(options.secrets ?? []), ...hostSecrets(registry, process.env)] });
  const setting = { workspace: root, state: state.path, registry, redactor, governing: governing.places };
  const tape = await openTape(options, { own: ownTools, workspace: root.path, state: state.path });
  const source =
    tape.source ??
    (await openSources({
      ...setting,
      sources: [createExternalTools(), ...(options.sources ?? [])],
      tools: ownTools,
      registryFile: fileOf(options.registry),
    }));
  const ast = await openAst({ ...setting, ast: options.ast, root, workspace });
  const tools = [...ownTools, ...source.tools];
  const known = source.tools.length === 0 ? ownNames : knownNames(tools, rules, engines);
  const { source: text, isTrusted } = written;
  const { cassette, newId } = tape.start(source.tools);
  const brought = { known, source, redactor, tools, rules, ast: ast?.index, cassette };
  const closeSources = async () => {
    await source.close();
    await ast?.close();
    cassette?.close();
  };
  const wiring = wireParts(
    { ...options, ports: { ...options.ports, newId } },
    { ...places, registry, written: { source: text, isTrusted }, ...brought },
  );
  const parts = await wiring.catch(async (thrown: unknown) => {
    await closeSources();
    throw thrown;
  });
  try {
    await parts.requireExamples(registry);
    const findings = (await parts.journal.reportHeads?.()) ?? [];
    const unfinished = await parts.reconcile();
    await workspace.sweepLeftovers();
    await workspace.sweepNoted();
    const checkWall = async () => {
      const { tryWall } = await import('./platform/commands/sandbox-view.ts');
      return tryWall(registry, { workspace: root, state: state.path });
    };
    return assembleRuntime({
      parts,
      policy: createPolicyRehearsal({ runtime: parts, known, source: text, isTrusted, registry }),
      registry,
      workspace,
      root,
      ast,
      source,
      unfinished,
      findings,
      witness: await keepWitness(witnessesOf(options.witness, registry), {
        parts,
        means: witnessMeans(parts, registry, { state: state.path, workspace: root.path }),
        everyMs: options.witness?.everyMs,
      }),
      retention: keepRetention({ parts, registry, state: state.path, stamp: createDailyStamp(state.path) }, (thrown) =>
        parts.reportUnexpected(toToolError(thrown)),
      ),
      checkWall,
      state: state.path,
      everyMs: options.ports?.reconcileEveryMs,
    });
  } catch (thrown) {
    await parts.journal.close();
    await closeSources();
    throw thrown;
  }
}

interface Assembly {
  readonly parts: RuntimeParts;
  readonly policy: PolicyRehearsal;
  readonly registry: Registry;
  readonly workspace: FileWorkspace;
  readonly root: Root;
  readonly ast: OpenAst | undefined;
  readonly source: OpenToolSource;
  readonly unfinished: readonly ReconciledCall[];
  readonly findings: readonly HeadFinding[];
  readonly retention: ReturnType<typeof keepRetention>;
  readonly witness: Witness;
  readonly checkWall: Runtime['checkWall'];
  readonly state: string;
  readonly everyMs: number | undefined;
}

function assembleRuntime(assembly: Assembly): Runtime {
  const { parts, registry, workspace, root, ast, source, unfinished, findings, checkWall } = assembly;
  const reconciling = reconcileNowAndThen(parts, assembly.everyMs ?? RECONCILE_EVERY_MS);
  const sessions = new Set<Session>();
  const inputOf = async ({ under, ...options }: SessionOptions): Promise<OpenSessionInput> => {
    const grant = under === undefined ? undefined : (await import('./session/read-grant.ts')).readGrant(under);
    const held = grant === undefined ? registry : await registryOfGrant(registry, grant, parts);
    return {
      grant,
      actor: grant?.actor ?? options.actor ?? 'local',
      client: options.client ?? 'embedded',
      registry: await parts.narrowRegistry(held, options.registry),
      capabilities: options.capabilities,
      heartbeatTimeoutMs: options.heartbeatTimeoutMs,
      approvals: options.approvals,
    };
  };
  // Children without a parent are the runtime's: they end with it.
  const owner: SessionOwner = {
    successor: undefined,
    onClosed: (ended) => sessions.delete(ended),
    adopt: (member) => sessions.add(member.session),
    forget: (member) => sessions.delete(member.session),
  };
  return {
    registry,
    warnings: [...registry.warnings, ...source.warnings, ...headWarnings(findings)],
    pathBackend: root.backend,
    cassette: () => parts.cassette?.state(),
    unfinished,
    preview: async (options = {}) => previewSession(await inputOf(options), parts),
    async openSession(options = {}) {
      const session = await openSession(await inputOf(options), parts, owner);
      sessions.add(session);
      return session;
    },
    checkWall,
    async staleGitLocks() {
      const { clearWorkspaceLocks } = await import('./platform/git/git-writes.ts');
      const left = await clearWorkspaceLocks(assembly.state, root.path);
      return left.toSorted((one, other) => one.createdMs - other.createdMs).map(({ path }) => path);
    },
    unfinishedCommits: () => createRedoLog(assembly.state).left().length,
    reconcile: parts.reconcile,
    async resolvePending(callId, outcome, note) {
      const { resolvePending } = await import('./journal/resolve-pending.ts');
      await resolvePending(parts.journal, callId, outcome, { clock: parts.clock, note });
    },
    records: (filter) => parts.journal.read(filter),
    changeOf: async (sessionId, callId) =>
      changeOfCall({ changes: parts.changes, redactor: parts.redactor, sessionId, callId }),
    head: () => parts.journal.head(),
    verify: (anchor, checks) => parts.journal.verify(anchor, { ...checks, witnessed: assembly.witness.heads() }),
    rotateJournal: (cut) => parts.journal.rotate(cut),
    pruneJournal: (limits) => parts.journal.prune(limits),
    instances: () => parts.journal.instances().map(({ id }) => id),
    servers: () => source.servers?.() ?? [],
    policy: assembly.policy,
    journalId: parts.hashArgs('journal', {}),
    events: parts.events,
    metrics: parts.metrics,
    async close() {
      clearInterval(reconciling);
      // One that could not record its end must not keep the rest open.
      const ended = await Promise.allSettled([...sessions].map((session) => session.close({ children: 'end' })));
      await Promise.all([assembly.retention.finish(), parts.workspaceJobs.close()]);
      await source.close();
      await ast?.close();
      parts.events.close();
      await signOff(parts);
      parts.cassette?.close();
      parts.sealedArgs.close();
      await parts.journal.close();
      await assembly.witness.finish();
      parts.findings.close();
      parts.changes.store.close();
      workspace.close();
      root.close();
      for (const end of ended) if (end.status === 'rejected') throw end.reason;
    },
  };
}

function witnessMeans(
  parts: RuntimeParts,
  registry: Registry,
  places: Pick<WitnessMeans, 'state' | 'workspace'>,
): WitnessMeans {
  return {
    ...places,
    openHttp: (host) => parts.createHttp([host], []),
    async useGit(use) {
      const programs = parts.createPrograms(registry, { actor: 'witness', sessionId: 'witness' });
      try {
        return await use(programs.git);
      } finally {
        await programs.close();
      }
    },
  };
}

/** A process that cannot sign off is found dead by the next one. */
async function signOff({ journal, instanceId, reportUnexpected }: RuntimeParts): Promise<void> {
  try {
    await journal.retire(instanceId);
  } catch (thrown) {
    reportUnexpected(toToolError(thrown));
  }
}

/** A process that lives long finds calls of others that died meanwhile without being restarted. */
function reconcileNowAndThen(parts: RuntimeParts, everyMs: number): NodeJS.Timeout {
  return setInterval(() => {
    parts.reconcile().catch((thrown: unknown) => parts.reportUnexpected(toToolError(thrown)));
  }, everyMs).unref();
}
