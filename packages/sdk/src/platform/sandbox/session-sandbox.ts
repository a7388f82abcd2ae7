/**
 * What the sandboxed programs of one session share: the spawner, the sandbox that was tested once, and the egress proxy, which
 * opens when the first of them may use the network.
 */
import { closeSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { ToolError } from '@tool-runtime/protocol';
import { once } from '@tool-runtime/protocol/internal';
import type {
  HeldWorkspace,
  Isolation,
  ProtectedPath,
  SandboxRequest,
  SharedNetwork,
} from '../../contracts/commands.ts';
import { failure } from '../../contracts/failures.ts';
import type { GoverningPlace } from '../../contracts/governing.ts';
import type { Registry } from '../../contracts/registry.ts';
import { openRoot } from '../descriptors/root.ts';
import { tracePath } from '../descriptors/trace-path.ts';
import { errnoCode } from '../errno-error.ts';
import type { ResolveHost } from '../network/pinned-agents.ts';
import type { Spawner } from '../processes/spawned-process.ts';
import { createSpawner } from '../processes/spawner.ts';
import { defaultStateFolder, openStateFolder } from '../state/state-folder.ts';
import type { ShownToolchains } from '../toolchains/shown-toolchains.ts';
import { type EgressProxy, openEgressProxy } from './egress-proxy.ts';
import { requireInPlace } from './hold-mounts.ts';
import { createBubblewrap } from './isolation-bubblewrap.ts';
import { openCaches } from './package-caches.ts';
import { protectedInRoot } from './protected-entries.ts';
import { startingFolder } from './sandbox-mounts.ts';

export interface SessionSandboxOptions {
  /** Held open by its owner; a path is opened here, and held until the sandbox is closed. */
  readonly workspace: HeldWorkspace | string;
  readonly isolation: 'bubblewrap' | 'none' | Isolation;
  /** What programs with network may reach; registry entries in normal form. */
  readonly allowedDomains: readonly string[];
  /** The state folder: never visible to programs; the sandbox keeps its files below it. Default: where state lies by default. */
  readonly state?: string;
  /** Programs are looked for here too, after the system's folders. The operator's word, like `readPaths`. */
  readonly programFolders?: readonly string[];
  /** A program that may be named by this absolute path, which is then the one that runs. */
  readonly exactProgram?: string;
  /** What decides over tools, wherever it lies: no program may change it, nor read what is secret of it. */
  readonly governing?: readonly GoverningPlace[];
  /** What else programs may not change or read. Default: git's data, the registry and the lock in the root. */
  readonly protectedPaths?: readonly ProtectedPath[];
  /** Shown to programs, read-only, in addition to the system folders. */
  readonly readPaths?: readonly string[];
  /** What the operator's toolchains add to `readPaths`; their secrets stay covered. */
  readonly toolchains?: ShownToolchains;
  /** Names of package managers whose caches programs keep, below the state folder. Left out: none. */
  readonly caches?: readonly string[];
  /** False: programs may only read the workspace. */
  readonly writable?: boolean;
  /** `full`: what a program wrote is on the disk before it counts as ended. Default: `normal`. */
  readonly durability?: Registry['durability'];
  readonly spawner?: Spawner;
  readonly resolve?: ResolveHost;
}

export interface SessionSandbox {
  readonly workspace: HeldWorkspace;
  /** What they may not change or read, as it lies now. Git itself may change its data and what counts by content only. */
  protectedPaths(user: 'programs' | 'git'): readonly ProtectedPath[];
  readonly spawner: Spawner;
  readonly isolation: Isolation;
  /** Throws E_POLICY when no sandbox can be set up or the workspace was moved. A cancelled caller stops waiting. */
  require(signal?: AbortSignal): Promise<void>;
  /** The loopback of the session: there once a program may stay. A cancelled caller stops waiting. */
  network(mayStay: boolean, signal?: AbortSignal): Promise<SharedNetwork | undefined>;
  /** The proxy's socket, or null where the isolation has no use for one. A cancelled caller stops waiting. */
  proxySocket(signal?: AbortSignal): Promise<string | null>;
  close(): Promise<void>;
}

export function createSessionSandbox(given: SessionSandboxOptions): SessionSandbox {
  const own = typeof given.workspace === 'string' ? openRoot(given.workspace) : undefined;
  const workspace = own ?? (given.workspace as HeldWorkspace);
  requireInPlace(workspace);
  const options = { ...given, workspace: workspace.path };
  const spawner = options.spawner ?? createSpawner();
  const chosen = typeof options.isolation === 'object' ? options.isolation : createIsolation(options, spawner);
  const isolation = options.durability === 'full' ? withSync(chosen, spawner) : chosen;
  const rootPaths = options.protectedPaths ?? protectedInRoot(options.workspace);
  let proxy: Promise<EgressProxy> | undefined;
  let network: Promise<SharedNetwork | undefined> | undefined;
  const openProxy = once(() => {
    proxy = openEgressProxy(options);
    return proxy;
  });
  return {
    workspace,
    protectedPaths: (user) => [
      ...rootPaths.filter(({ access }) => user === 'programs' || access === 'hide'),
      ...(options.governing ?? []).flatMap((place) => protectedFrom(place, user)),
      ...(options.toolchains?.secrets ?? []).map((path): ProtectedPath => ({ path, access: 'hide' })),
    ],
    spawner,
    isolation,
    require(signal) {
      requireInPlace(workspace);
      return unlessCancelled(requireSandbox(isolation), signal);
    },
    async network(mayStay, signal) {
      if (mayStay) network ??= isolation.openNetwork?.();
      return network === undefined ? undefined : unlessCancelled(network, signal);
    },
    async proxySocket(signal) {
      if (!isolation.enforcesNetwork) return null;
      return (await unlessCancelled(openProxy(), signal)).socket;
    },
    async close() {
      await (await proxy?.catch(() => undefined))?.close();
      (await network?.catch(() => undefined))?.close();
      own?.close();
    },
  };
}

function protectedFrom({ path, access }: GoverningPlace, user: 'programs' | 'git'): readonly ProtectedPath[] {
  if (access === 'git' && user === 'git') return [];
  return [{ path: tracePath(path).path, access: access === 'none' ? 'hide' : 'read_only' }];
}

function createIsolation(options: SessionSandboxOptions & { readonly workspace: string }, spawner: Spawner): Isolation {
  if (options.isolation === 'none') return createNoIsolation();
  const state = resolve(options.state ?? dirname(defaultStateFolder(options.workspace, process.env)));
  const { path: folder } = openStateFolder(join(state, 'wall'), { workspace: options.workspace });
  const { problem, readPaths = [] } = options.toolchains ?? {};
  const kept = openCaches({ ...options, state });
  const bubblewrap = createBubblewrap({
    spawner,
    folder,
    hiddenPaths: [dirname(folder)],
    ...(kept === undefined ? {} : { kept }),
    readPaths: [...(options.readPaths ?? []), ...(options.programFolders ?? []), ...readPaths],
  });
  return problem === undefined ? bubblewrap : { ...bubblewrap, check: async () => problem };
}

const SYNC = '/usr/bin/sync';

/** A program writes past our own syncs, so the whole file system is synced before its end is known. */
function withSync(isolation: Isolation, spawner: Spawner): Isolation {
  return {
    ...isolation,
    enter(request) {
      const sandbox = isolation.enter(request);
      if (!request.writable) return sandbox;
      return {
        ...sandbox,
        async settle(end, report) {
          const settled = await sandbox.settle(end, report);
          await syncFileSystems(request, spawner);
          return settled;
        },
      };
    },
  };
}

/** Node has no `syncfs`, and a program does not stop the event loop while the disk works. */
async function syncFileSystems({ workspace, folders = [] }: SandboxRequest, spawner: Spawner): Promise<void> {
  const lent = folders.filter(({ writable }) => writable).map(({ path }) => path);
  const fd = workspace.open();
  try {
    const { exited } = await spawner.spawn({
      program: SYNC,
      args: ['-f', '/proc/self/fd/3', ...lent],
      ...{ env: {}, cwd: '/', stdin: 'null', stdout: 'null', stderr: 'null', extraFds: [fd] },
    });
    const { code } = await exited;
    if (code !== 0) throw notSynced(`exit code ${code}`);
  } catch (thrown) {
    throw thrown instanceof ToolError ? thrown : notSynced(errnoCode(thrown) ?? 'unknown', thrown);
  } finally {
    closeSync(fd);
  }
}

function notSynced(why: string, cause?: unknown): ToolError {
  return failure('tool_failure', 'repair_needed', 'What the program wrote could not be brought to the disk', {
    details: { reason: 'sync_failed', why, next: 'check the disk of the workspace; the program itself has ended' },
    ...(cause === undefined ? {} : { cause }),
  });
}

async function requireSandbox(isolation: Isolation): Promise<void> {
  const problem = await isolation.check();
  if (problem === undefined) return;
  throw failure('isolation_failure', 'host_configuration_needed', `Commands cannot be sandboxed: ${problem.problem}`, {
    details: { isolation: isolation.name, next: problem.next },
  });
}

/** The session's sandbox is prepared for every caller: one that is cancelled meanwhile leaves, and the work goes on. */
async function unlessCancelled<T>(shared: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return shared;
  const { promise: cancelled, reject } = Promise.withResolvers<never>();
  const onAbort = (): void =>
    reject(failure('cancellation', 'retryable', 'Call was cancelled while the sandbox was prepared'));
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([shared, cancelled]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** No sandbox: processes run as we do. Their group can still be killed; the network cannot be kept from them. */
export function createNoIsolation(): Isolation {
  return {
    name: 'none',
    enforcesNetwork: false,
    check: async () => undefined,
    enter: (request) => ({
      places: { home: homedir(), temporary: tmpdir() },
      confine: (program) => ({ ...program, cwd: startingFolder(program, request), reports: false, pauses: false }),
      verify: () => true,
      verifyEarly: () => true,
      settle: async (end) => end,
      leave: () => [],
    }),
  };
}
