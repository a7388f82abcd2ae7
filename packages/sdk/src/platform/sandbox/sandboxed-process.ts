/** One process in the sandbox: started, watched to its end, and everything it left behind ended with it. */
import { writeFileSync } from 'node:fs';
import { ToolError } from '@tool-runtime/protocol';
import type { ConfinedProcess, ProcessEnd, Sandbox } from '../../contracts/commands.ts';
import { errnoCode } from '../errno-error.ts';
import type { SpawnedProcess, Spawner, SpawnOptions } from '../processes/spawned-process.ts';
import { ADMISSION_FDS, type Admission, admitProcess } from './admit-process.ts';

export interface SandboxedProcess {
  readonly process: SpawnedProcess;
  /** Rejects with E_POLICY when its sandbox is not what was checked; the program has not run then. */
  readonly admitted: Promise<void>;
  /** Settles when nothing of it is left. */
  readonly ended: Promise<ProcessEnd>;
}

export type Ends = Pick<SpawnOptions, 'stdin' | 'stdout' | 'stderr'>;

export interface SandboxSetting {
  readonly spawner: Spawner;
  readonly sandbox: Sandbox;
  /** Kills the process at any time, also while its sandbox is being set up. */
  readonly stop?: AbortSignal | undefined;
}

/** A program as the host has to start it. */
export interface ReadyProgram {
  /** As the caller wrote it. */
  readonly name: string;
  readonly confined: ConfinedProcess;
}

/** Throws E_SHELL when it cannot be started, E_POLICY when its sandbox is not what was checked. */
export async function startSandboxed(
  setting: SandboxSetting,
  program: ReadyProgram,
  ends: Ends,
): Promise<SandboxedProcess> {
  const started = await spawnSandboxed(setting, program, ends);
  try {
    await started.admitted;
    return started;
  } catch (thrown) {
    await started.ended;
    throw thrown;
  }
}

/** Same, but answers before it is admitted, for those who start several at once. */
export async function spawnSandboxed(
  { spawner, sandbox, stop }: SandboxSetting,
  { name, confined }: ReadyProgram,
  ends: Ends,
): Promise<SandboxedProcess> {
  const { reports, pauses, ...start } = confined;
  try {
    const process = await spawner.spawn({
      ...start,
      ...ends,
      ...(reports ? { extraFds: pauses ? ADMISSION_FDS : ADMISSION_FDS.slice(0, 2) } : {}),
    });
    preferAsVictim(process.pid);
    if (stop !== undefined) killOnStop(process, stop);
    const { admitted, report } = reports
      ? admitProcess(process, { early: sandbox.verifyEarly, all: sandbox.verify })
      : OPEN;
    admitted.catch(() => abandon(process));
    const ended = untilEnded(process, sandbox, report);
    // A caller that was refused does not wait for the end.
    ended.catch(() => {});
    return { process, admitted, ended };
  } catch (thrown) {
    throw notStarted(name, errnoCode(thrown) ?? 'unknown', thrown);
  }
}

function killOnStop(process: SpawnedProcess, stop: AbortSignal): void {
  const kill = (): void => process.kill('SIGKILL');
  stop.addEventListener('abort', kill, { once: true });
  process.exited.finally(() => stop.removeEventListener('abort', kill)).catch(() => {});
  // It may have fired while the process was being started.
  if (stop.aborted) kill();
}

function abandon({ stdin, stdout, stderr }: SpawnedProcess): void {
  for (const stream of [stdin, stdout, stderr]) stream?.destroy();
}

const OPEN: Admission = { admitted: Promise.resolve(), report: Promise.resolve('') };

export function notStarted(name: string, reason: string, cause?: unknown): ToolError {
  return new ToolError('E_SHELL', `Program could not be started: ${name}`, {
    path: 'cmd',
    details: { reason, next: 'look at the reason; the command itself did not run' },
    ...(cause === undefined ? {} : { cause }),
  });
}

async function untilEnded(process: SpawnedProcess, sandbox: Sandbox, report: Promise<string>): Promise<ProcessEnd> {
  const end = await process.exited;
  // Background processes of the same group; without a sandbox nothing else would end them.
  process.kill('SIGKILL');
  process.stdin?.destroy();
  return sandbox.settle(end, await report);
}

/** When memory runs out, the kernel shall take a command rather than the runtime. */
function preferAsVictim(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '500');
  } catch (thrown) {
    // Ended already, or another system.
    if (errnoCode(thrown) === undefined) throw thrown;
  }
}
