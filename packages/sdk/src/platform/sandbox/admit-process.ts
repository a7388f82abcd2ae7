/** Lets a program start in its sandbox only when the sandbox was looked at: bubblewrap waits at the gate until then. */
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { ToolError } from '@tool-runtime/protocol';
import type { ProcessEnd } from '../../contracts/commands.ts';
import { failure } from '../../contracts/failures.ts';
import { errnoCode } from '../errno-error.ts';
import type { SpawnedProcess } from '../processes/spawned-process.ts';

/** Descriptors 3, 4 and 5 of bubblewrap, and the words that name the first two. The last one is named by mounts. */
export const ADMISSION_FDS = ['pipe', 'gate', 'pause'] as const;
export const ADMISSION_WORDS = ['--json-status-fd', '3', '--block-fd', '4'];

const LOOK_MS = 1;
const GIVE_UP_MS = 30_000;

export interface Admission {
  /** All that bubblewrap reported. */
  readonly report: Promise<string>;
  /** Rejects with E_POLICY when the program must not start; the process is killed then. */
  readonly admitted: Promise<void>;
}

/** Each answers false while the sandbox is being set up, and throws when it must not be used. */
export interface Verification {
  /** Before mounts whose place others can change, where there are any. */
  readonly early: (init: number) => boolean;
  readonly all: (init: number) => boolean;
}

export function admitProcess(process: SpawnedProcess, verification: Verification): Admission {
  const { promise: init, resolve } = Promise.withResolvers<number | undefined>();
  const report = readReport(process.extra[0], resolve);
  const admitted = admit(process, init, verification);
  admitted.catch(() => {});
  return { report, admitted };
}

async function admit(
  process: SpawnedProcess,
  reported: Promise<number | undefined>,
  { early, all }: Verification,
): Promise<void> {
  const { pause, gate } = process;
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  process.exited.then(over, over);
  try {
    const init = await reported;
    // How it ended is told by its report.
    if (init === undefined) return;
    if (pause !== undefined) await until(() => isOver || early(init));
    pause?.open();
    await until(() => isOver || all(init));
    if (!isOver) gate?.open();
  } catch (thrown) {
    // First the kill: a gate that closes may let bubblewrap go on.
    process.kill('SIGKILL');
    throw thrown;
  } finally {
    pause?.close();
    gate?.close();
  }
}

async function until(isDone: () => boolean): Promise<void> {
  for (let waited = 0; !isDone(); waited += LOOK_MS) {
    if (waited >= GIVE_UP_MS) throw notSetUp();
    await delay(LOOK_MS);
  }
}

async function readReport(stream: Readable | undefined, onInit: (init: number | undefined) => void): Promise<string> {
  let report = '';
  try {
    for await (const chunk of stream ?? []) {
      report += String(chunk);
      const init = numberIn(report, 'child-pid');
      if (init !== undefined) onInit(init);
    }
  } finally {
    onInit(undefined);
  }
  return report;
}

function notSetUp(): ToolError {
  return failure('isolation_failure', 'retryable', 'Sandbox was not set up in time', {
    details: { reason: 'mount_unverified', next: 'try again when the machine is less busy' },
  });
}

const FOLDED = 128;
const UNFOLDED: readonly NodeJS.Signals[] = [
  'SIGILL',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGKILL',
  'SIGSEGV',
  'SIGTERM',
  'SIGXCPU',
  'SIGXFSZ',
  'SIGSYS',
];
const SIGNALS: ReadonlyMap<number, string> = new Map(UNFOLDED.map((name) => [constants.signals[name], name]));
const END_WAIT_MS = 2000;

/**
 * What bubblewrap reports of the program it ran, and the end of everything that ran with it.
 *
 * Bubblewrap folds a signal into the exit code, 128 higher. Only signals that crash or kill are unfolded again: programs
 * do choose other codes up there by themselves (git answers 129 to wrong usage).
 */
export async function settleReport(end: ProcessEnd, report: string): Promise<ProcessEnd> {
  const init = numberIn(report, 'child-pid');
  if (init !== undefined) await endNamespace(init, end);
  if (end.code === null) return end;
  const code = numberIn(report, 'exit-code');
  if (code === undefined) return { ...end, notStarted: 'its sandbox could not be set up' };
  const signal = SIGNALS.get(code - FOLDED);
  return signal === undefined ? { code, signal: null } : { code: null, signal };
}

export function numberIn(report: string, name: string): number | undefined {
  const digits = new RegExp(`"${name}": (\\d+)`).exec(report)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/**
 * The first process inside takes all others along, and itself dies with bubblewrap; only when that was killed early it may
 * not know yet that it should. Alone it can do nothing more: how long the kernel takes to clear up is not waited for.
 */
async function endNamespace(init: number, { code }: ProcessEnd): Promise<void> {
  if (code === null && isNamespaceInit(init)) killQuietly(init);
  for (let waited = 0; hasOthers(init) && waited < END_WAIT_MS; waited += LOOK_MS) {
    killQuietly(init);
    await delay(LOOK_MS);
  }
}

/** Every process inside descends from the first, so when that has no children it is alone. */
function hasOthers(init: number): boolean {
  try {
    if (readFileSync(`/proc/${init}/task/${init}/children`, 'latin1') === '') return false;
  } catch (thrown) {
    // Gone; or a kernel that does not list children, then its end is what is waited for.
    if (errnoCode(thrown) === undefined) throw thrown;
  }
  return isNamespaceInit(init);
}

/** Its number may belong to someone else by now; only the first process of a namespace has the number 1 inside. */
function isNamespaceInit(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    return /^NSpid:.*\t1$/m.test(status) && !/^State:\s+[ZX]/m.test(status);
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return false;
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
  }
}
