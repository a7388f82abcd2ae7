/**
 * Runs judged command lists behind the wall: finds the programs, sees that the wall stands, opens the proxy when network
 * is asked for, and hands over to the run itself.
 */
import { realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { ToolError } from '@tool-runtime/protocol';
import type {
  CommandRequest,
  Isolation,
  OpenCommandRunner,
  RunningCommand,
  Wall,
  WalledProgram,
} from '../contracts/commands.ts';
import { failure, policyDenial } from '../contracts/failures.ts';
import { baseEnvironment } from '../shell/environment.ts';
import { type EgressProxy, openEgressProxy } from './egress-proxy.ts';
import { errnoCode } from './errno-error.ts';
import { createBubblewrap } from './isolation-bubblewrap.ts';
import { createNoIsolation } from './isolation-none.ts';
import type { ResolveHost } from './resolve-host.ts';
import { resolveProgram } from './resolve-program.ts';
import { runCommand } from './run-command.ts';
import type { Spawner } from './spawned-process.ts';
import { createSpawner } from './spawner.ts';
import { defaultStateFolder, openStateFolder } from './state-folder.ts';
import type { ReadyProgram } from './walled-process.ts';

export interface CommandRunnerOptions {
  readonly workspace: string;
  readonly isolation: 'bubblewrap' | 'none' | Isolation;
  /** What commands with network may reach; registry entries in normal form. */
  readonly allowedDomains: readonly string[];
  /** The state folder: never visible to commands; the wall keeps its files below it. Default: where state lies by default. */
  readonly state?: string;
  /** Programs are looked for here too, after the system's folders. The operator's word, like `readPaths`. */
  readonly programFolders?: readonly string[];
  /** Shown to commands, read-only, besides the system folders. */
  readonly readPaths?: readonly string[];
  readonly spawner?: Spawner;
  readonly resolve?: ResolveHost;
}

const SYSTEM_PROGRAMS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

export function createCommandRunner(given: CommandRunnerOptions): OpenCommandRunner {
  const options = { ...given, workspace: realpathSync.native(given.workspace) };
  const spawner = options.spawner ?? createSpawner();
  const isolation = typeof options.isolation === 'object' ? options.isolation : createIsolation(options, spawner);
  const running = new Set<RunningCommand>();
  let proxy: Promise<EgressProxy> | undefined;
  let isClosed = false;

  async function openSocket(): Promise<string> {
    proxy ??= openEgressProxy(options);
    return (await proxy).socket;
  }
  async function track(starting: Promise<RunningCommand>): Promise<RunningCommand> {
    const command = await starting;
    running.add(command);
    command.done.catch(() => {}).finally(() => running.delete(command));
    if (isClosed) await command.stop();
    return command;
  }
  return {
    async start(request) {
      await requireWall(isolation);
      const programs = findPrograms(request, options);
      const cwd = folderInside(options.workspace, request.cwd);
      const proxySocket = request.network && isolation.enforcesNetwork ? await openSocket() : null;
      const wall = isolation.enter({ workspace: options.workspace, writable: true, proxySocket });
      const ready = confineAll(programs, wall, { cwd, env: environment(options, wall, request) });
      requireUncancelled(request.signal);
      const networkEnforced = isolation.enforcesNetwork;
      return track(runCommand({ request, spawner, wall, programs: ready, networkEnforced }));
    },
    async close() {
      isClosed = true;
      await Promise.all([...running].map((command) => command.stop()));
      await (await proxy?.catch(() => undefined))?.close();
    },
  };
}

function createIsolation(options: CommandRunnerOptions, spawner: Spawner): Isolation {
  if (options.isolation === 'none') return createNoIsolation();
  const state = resolve(options.state ?? dirname(defaultStateFolder(options.workspace, process.env)));
  return createBubblewrap({
    spawner,
    folder: openStateFolder(join(state, 'wall'), { workspace: options.workspace }).path,
    hiddenPaths: [state],
    readPaths: [...(options.readPaths ?? []), ...(options.programFolders ?? [])],
  });
}

async function requireWall(isolation: Isolation): Promise<void> {
  const problem = await isolation.check();
  if (problem === undefined) return;
  throw failure('isolation_failure', 'host_configuration_needed', `Commands cannot be walled in: ${problem.problem}`, {
    details: { isolation: isolation.name, next: problem.next },
  });
}

/** All of the list's, before any runs: a list must not stop halfway because its last program does not exist. */
function findPrograms({ list }: CommandRequest, { workspace, programFolders = [] }: CommandRunnerOptions) {
  const folders = [...SYSTEM_PROGRAMS, ...programFolders];
  return list.pipelines.map(({ commands }) =>
    commands.map(({ argv: [name = '', ...args] }) => ({
      name,
      program: resolveProgram(name, { folders, workspace }),
      args,
    })),
  );
}

function confineAll(
  programs: ReturnType<typeof findPrograms>,
  wall: Wall,
  setting: Pick<WalledProgram, 'cwd' | 'env'>,
): readonly (readonly ReadyProgram[])[] {
  return programs.map((pipeline) =>
    pipeline.map(({ name, program, args }) => ({ name, confined: wall.confine({ program, args, ...setting }) })),
  );
}

/** Where `cwd` really is, below the workspace: a link that leads out is refused, also where no wall would stop it. */
function folderInside(workspace: string, cwd: string): string {
  let real: string;
  try {
    real = realpathSync.native(join(workspace, cwd));
    if (!statSync(real).isDirectory()) throw noFolder(cwd);
  } catch (thrown) {
    throw errnoCode(thrown) === undefined ? thrown : noFolder(cwd);
  }
  const inside = relative(workspace, real);
  if (inside !== '..' && !inside.startsWith('../') && !isAbsolute(inside)) return inside === '' ? '.' : inside;
  throw policyDenial(`Path leaves the workspace: ${cwd}`, {
    path: 'cwd',
    details: { gate: 'workspace', rule: 'sec.paths.sandbox', next: 'start in a folder of the workspace' },
  });
}

function noFolder(cwd: string): ToolError {
  return new ToolError('E_SHELL', `Folder not found: ${cwd}`, {
    path: 'cwd',
    details: { reason: 'not_found', next: 'start in an existing folder of the workspace' },
  });
}

function requireUncancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  throw failure('cancellation', 'retryable', 'Command was cancelled before it started');
}

function environment({ programFolders = [] }: CommandRunnerOptions, { places }: Wall, { env }: CommandRequest) {
  return { ...baseEnvironment(process.env, places), PATH: [...SYSTEM_PROGRAMS, ...programFolders].join(':'), ...env };
}
