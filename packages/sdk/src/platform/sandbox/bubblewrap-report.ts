/**
 * What bubblewrap reports of the program it ran, and the end of everything that ran with it.
 *
 * Bubblewrap folds a signal into the exit code, 128 higher. Only signals that crash or kill are unfolded again: programs
 * do choose other codes up there by themselves (git answers 129 to wrong usage).
 */
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessEnd } from '../../contracts/commands.ts';
import { errnoCode } from '../errno-error.ts';

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
const LOOK_MS = 1;
const GIVE_UP_MS = 2000;

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
  for (let waited = 0; hasOthers(init) && waited < GIVE_UP_MS; waited += LOOK_MS) {
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
