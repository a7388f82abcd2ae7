/** Runs checked command lists in the session's sandbox: finds the programs, then starts the run. */
import { realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { isToolError, ToolError } from '@tool-runtime/protocol';
import type {
  CommandRequest,
  Isolation,
  RunningCommand,
  Sandbox,
  SandboxedProgram,
  StagingCommandRunner,
} from '../../contracts/commands.ts';
import { failure, policyDenial } from '../../contracts/failures.ts';
import { noCommandsOnCopy } from '../../contracts/transactions.ts';
import { throwIfAborted } from '../cancellation.ts';
import { errnoCode } from '../errno-error.ts';
import type { FairSlots } from '../fair-slots.ts';
import { cacheFolder } from '../sandbox/package-caches.ts';
import type { ReadyProgram } from '../sandbox/sandboxed-process.ts';
import { createSessionSandbox, type SessionSandbox, type SessionSandboxOptions } from '../sandbox/session-sandbox.ts';
import { type CommandOverlays, createCommandOverlays, withProblem } from './command-effects.ts';
import { refuseOfflineReinstall } from './offline-install.ts';
import { commandEnvironment, findPrograms, programPlace } from './program-place.ts';
import { runCommand } from './run-command.ts';

export interface CommandRunnerOptions extends SessionSandboxOptions {
  /** Shared with others of the session; otherwise the runner makes its own and closes it. */
  readonly sandbox?: SessionSandbox;
  /** How many commands run at once, and on whose account these are; left out: any number. */
  readonly slots?: CommandSlots;
}

export interface CommandSlots {
  readonly shared: FairSlots;
  readonly owner: string;
}

export function createCommandRunner(options: CommandRunnerOptions): StagingCommandRunner {
  const shared = options.sandbox ?? createSessionSandbox(options);
  const { workspace, spawner, isolation } = shared;
  const overlays = overlaysOf(options, shared);
  const running = new Set<RunningCommand>();
  let isClosed = false;

  async function track(starting: Promise<RunningCommand>): Promise<RunningCommand> {
    const command = await starting;
    running.add(command);
    command.done.catch(() => {}).finally(() => running.delete(command));
    if (isClosed) await command.stop();
    return command;
  }
  async function launch(request: CommandRequest, onBackground: () => void): Promise<RunningCommand> {
    const { tree } = request;
    if (tree?.problem !== undefined) throw noCommandsOnCopy('Commands', tree.problem, COMMIT_FIRST);
    if (request.list.script !== undefined) requireIsolation(isolation);
    await shared.require(request.signal);
    const cwd = tree === undefined ? folderInside(workspace.path, request.cwd) : tree.folder(request.cwd);
    const place = programPlace(options, { isolation, workspace: workspace.path, cwd });
    const programs = findPrograms(request, place);
    request.requireFolder?.(cwd);
    if (!request.network && isolation.enforcesNetwork) {
      const cache = cacheFolder('npm', { ...options, workspace: workspace.path });
      refuseOfflineReinstall(request.list, { workspace: workspace.path, cwd, cache });
    }
    const proxySocket = request.network ? await shared.proxySocket(request.signal) : null;
    const protectedPaths = shared.protectedPaths('programs');
    const isTrial = request.keeper?.ask !== undefined;
    // The namespace of a tree cannot be entered from inside the session's network.
    const isAlone = isTrial || tree !== undefined;
    const mayStay = request.mayStay === true && !request.network;
    const network = isAlone ? undefined : await shared.network(mayStay, request.signal);
    const onOverlay = await overlays.open(request, network);
    const run = typeof onOverlay === 'object' ? onOverlay : undefined;
    const writable = (options.writable ?? true) && request.onlyReads !== true;
    let sandbox: Sandbox | undefined;
    try {
      sandbox = isolation.enter({
        ...{ workspace, writable, proxySocket, protectedPaths, readsOutside: isTrial },
        ...(network === undefined ? {} : { network }),
        ...(run === undefined ? {} : { overlay: run.overlay }),
      });
      const env = commandEnvironment(request, { ...place, places: sandbox.places });
      const ready = confineAll(programs, sandbox, { cwd, env });
      requireUncancelled(request.signal);
      const networkEnforced = isolation.enforcesNetwork;
      const command = await runCommand({ request, spawner, sandbox, programs: ready, networkEnforced, onBackground });
      if (run !== undefined) return run.follow(command, protectedPaths);
      return typeof onOverlay === 'string' ? withProblem(command, onOverlay) : command;
    } catch (thrown) {
      sandbox?.leave();
      await run?.release();
      throw thrown;
    }
  }

  return {
    async start(request) {
      const leaveSlot = await takeSlot(options.slots, request.signal);
      try {
        const command = await track(launch(request, leaveSlot));
        command.done.then(leaveSlot, leaveSlot);
        return command;
      } catch (thrown) {
        leaveSlot();
        throw thrown;
      }
    },
    async stage(signal) {
      const problem = await shared.require(signal).catch((thrown: unknown) => {
        throwIfAborted(signal);
        if (isToolError(thrown)) return thrown;
        throw thrown;
      });
      return overlays.stage({
        ...{ problem: problem ?? undefined, signal, protectedPaths: () => shared.protectedPaths('programs') },
        copies: options.state === undefined ? undefined : { state: options.state, workspace },
      });
    },
    async close() {
      isClosed = true;
      await Promise.all([...running].map((command) => command.stop()));
      await overlays.close();
      if (options.sandbox === undefined) await shared.close();
    },
  };
}

const COMMIT_FIRST = 'tx_commit or tx_abort, and run the command outside of the transaction';

/** Without a state folder or a sandbox there is no overlay: then a preview is refused. */
function overlaysOf(
  { state }: CommandRunnerOptions,
  { workspace, spawner, isolation }: SessionSandbox,
): CommandOverlays {
  const isPossible = state !== undefined && isolation.enforcesNetwork;
  return createCommandOverlays(isPossible ? { state, workspace, spawner } : undefined);
}

/** Waits for a place among the running commands. The returned function leaves it; called again it does nothing. */
async function takeSlot(slots: CommandSlots | undefined, signal: AbortSignal | undefined): Promise<() => void> {
  if (slots === undefined) return () => {};
  const { shared, owner } = slots;
  if ((await shared.take(owner, signal)) === false) throw noTurn(shared.size);
  let isHeld = true;
  return () => {
    if (isHeld) shared.give();
    isHeld = false;
  };
}

function noTurn(size: number): ToolError {
  return new ToolError(
    'E_TIMEOUT',
    `Command did not start: this workspace runs ${size} commands already, which is the limit`,
    {
      details: {
        waited_for: 'commands',
        next: 'try again when they have ended, or let the operator raise limits.max_commands',
      },
    },
  );
}

/** A script may hold anything: only a sandbox makes it safe to run. */
function requireIsolation({ name, enforcesNetwork }: Isolation): void {
  if (enforcesNetwork) return;
  throw failure('isolation_failure', 'host_configuration_needed', 'Sandboxed command mode needs a sandbox', {
    details: { isolation: name, field: 'isolation', next: 'set isolation: bubblewrap, or shell.mode: strict' },
  });
}

function confineAll(
  programs: ReturnType<typeof findPrograms>,
  sandbox: Sandbox,
  setting: Pick<SandboxedProgram, 'cwd' | 'env'>,
): readonly (readonly ReadyProgram[])[] {
  return programs.map((pipeline) =>
    pipeline.map(({ name, program, args }) => ({ name, confined: sandbox.confine({ program, args, ...setting }) })),
  );
}

/** Where `cwd` really is, below the workspace: a link that leads out is refused, also where no sandbox would stop it. */
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
