/**
 * Runs the sealed copy of an external tool in the sandbox.
 *
 * It starts in its run folder, the one place it may always write to; of the state folder it sees that and its own copy.
 * Whatever it leaves running ends with the sandbox.
 */
import type {
  CommandEffects,
  CommandRequest,
  OpenCommandRunner,
  ProgramEffects,
  RunningCommand,
  Sandbox,
} from '../../contracts/commands.ts';
import { failure } from '../../contracts/failures.ts';
import type { GoverningPlace } from '../../contracts/governing.ts';
import type { PrivatePlaces } from '../../shell/environment.ts';
import { resolveProgram, SYSTEM_PROGRAMS } from '../processes/resolve-program.ts';
import { notStarted } from '../sandbox/sandboxed-process.ts';
import { createSessionSandbox, type SessionSandbox, type SessionSandboxOptions } from '../sandbox/session-sandbox.ts';
import { type CommandOverlays, createCommandOverlays, withProblem } from './command-effects.ts';
import { runCommand } from './run-command.ts';

export type ExternalSandbox = Pick<
  SessionSandboxOptions,
  'workspace' | 'isolation' | 'allowedDomains' | 'spawner' | 'durability'
> & {
  readonly state: string;
  readonly governing: readonly GoverningPlace[];
  /** Shown read-only. Absolute. */
  readonly readPaths: readonly string[];
};

export interface ExternalStart {
  /** The copy's folder, shown read-only, and the program in it. */
  readonly sealed: { readonly folder: string; readonly program: string };
  /** Program that runs it, with its options; empty: it runs by itself. */
  readonly interpreter: readonly string[];
  readonly args: readonly string[];
  /** Writable, and where it starts; without one it starts in the copy's folder and can write nothing that stays. */
  readonly runFolder?: string;
  /** Whether the workspace may be changed. */
  readonly writable: boolean;
  readonly network: boolean;
  readonly signal: AbortSignal;
  /** Undefined: what it writes in the workspace is real at once. */
  readonly effects?: ProgramEffects | undefined;
  environment(places: PrivatePlaces, sandbox: { readonly enforcesNetwork: boolean }): Readonly<Record<string, string>>;
  onOutput(stream: 'stdout' | 'stderr', chunk: Uint8Array): void;
  onStarted?(): void;
}

export interface ExternalEnd {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly networkEnforced: boolean;
  /** Protected names of the workspace that appeared meanwhile, under the names they were moved to. */
  readonly quarantined: readonly string[];
  /** When it ran on an overlay. */
  readonly effects?: CommandEffects;
  /** Why it did not, although that was asked for. */
  readonly effectsProblem?: string;
}

export interface ExternalPrograms {
  /** Throws E_POLICY when no sandbox can be set up, E_SHELL when the tool cannot be started. */
  run(start: ExternalStart): Promise<ExternalEnd>;
  close: OpenCommandRunner['close'];
}

/** Enough for what bubblewrap says when it fails; the tool's own output goes to the listener. */
const COMPLAINT_BYTES = 4096;

/** The program that sets limits says so when it cannot start the tool. A tool that says the same fails itself, no more. */
const LIMITER = /^prlimit: /;
const NOT_EXECUTED = [126, 127];

export function createExternalPrograms(options: ExternalSandbox): ExternalPrograms {
  const shared = createSessionSandbox(options);
  const { workspace, spawner, isolation } = shared;
  const overlays = createCommandOverlays(
    isolation.enforcesNetwork ? { state: options.state, workspace, spawner } : undefined,
  );
  const running = new Set<{ stop(): Promise<void> }>();
  return {
    async run(start) {
      await shared.require(start.signal);
      const command = await begin(shared, overlays, start);
      running.add(command);
      start.onStarted?.();
      try {
        const { code, signal, stderr, networkEnforced, quarantined = [], effects, effectsProblem } = await command.done;
        if (code !== null && NOT_EXECUTED.includes(code) && LIMITER.test(stderr.text)) throw neverRan(stderr.text);
        return {
          ...{ code, signal, networkEnforced, quarantined },
          ...(effects === undefined ? {} : { effects }),
          ...(effectsProblem === undefined ? {} : { effectsProblem }),
        };
      } finally {
        running.delete(command);
      }
    },
    async close() {
      await Promise.all([...running].map((command) => command.stop()));
      await overlays.close();
      await shared.close();
    },
  };
}

async function begin(shared: SessionSandbox, overlays: CommandOverlays, start: ExternalStart): Promise<RunningCommand> {
  const { isolation, workspace, spawner } = shared;
  const words = programWords(start, workspace.path);
  const proxySocket = start.network ? await shared.proxySocket(start.signal) : null;
  const { sealed, runFolder, signal } = start;
  const protectedPaths = shared.protectedPaths('programs');
  const { mode, keeper } = (start.writable ? start.effects : undefined) ?? {};
  const watched = mode === undefined || keeper === undefined ? { signal } : { effects: mode, keeper, signal };
  const onOverlay = await overlays.open(watched, undefined);
  const run = typeof onOverlay === 'object' ? onOverlay : undefined;
  const sandbox = isolation.enter({
    ...{ workspace, writable: start.writable, proxySocket, protectedPaths },
    ...(run === undefined ? {} : { overlay: run.overlay }),
    folders: [
      { path: sealed.folder, writable: false },
      ...(runFolder === undefined ? [] : [{ path: runFolder, writable: true }]),
    ],
  });
  try {
    if (start.signal.aborted) throw start.signal.reason ?? cancelled();
    const request = requestOf(start, words);
    const programs = [[{ name: 'external tool', confined: confine(sandbox, words, { start, isolation }) }]];
    const command = await runCommand({
      ...{ request, spawner, sandbox, programs },
      networkEnforced: isolation.enforcesNetwork,
    });
    if (run !== undefined) return run.follow(command, protectedPaths);
    return typeof onOverlay === 'string' ? withProblem(command, onOverlay) : command;
  } catch (thrown) {
    sandbox.leave();
    await run?.release();
    throw thrown;
  }
}

function requestOf({ network, onOutput, signal }: ExternalStart, argv: readonly string[]): CommandRequest {
  return {
    list: { pipelines: [{ operator: null, commands: [{ argv, column: 1 }] }] },
    ...{ cwd: '.', env: {}, stdin: null, network, maxOutputBytes: COMPLAINT_BYTES, onOutput, signal },
  };
}

function programWords({ sealed, interpreter, args }: ExternalStart, workspace: string): readonly string[] {
  const [name, ...options] = interpreter;
  if (name === undefined) return [sealed.program, ...args];
  const exactProgram = name.startsWith('/') ? name : undefined;
  const found = resolveProgram(name, { folders: SYSTEM_PROGRAMS, workspace, exactProgram });
  return [found, ...options, sealed.program, ...args];
}

function confine(
  sandbox: Sandbox,
  [program = '', ...args]: readonly string[],
  { start, isolation }: { readonly start: ExternalStart; readonly isolation: SessionSandbox['isolation'] },
) {
  const env = start.environment(sandbox.places, isolation);
  return sandbox.confine({ program, args, env, cwd: start.runFolder ?? start.sealed.folder });
}

function neverRan(complaint: string) {
  return notStarted('external tool', complaint.split('\n', 1)[0]?.slice(0, 300) ?? '');
}

function cancelled() {
  return failure('cancellation', 'retryable', 'Tool was cancelled before it started');
}
