/**
 * Processes that descend from a program started here, found by a mark in their environment.
 *
 * Their group alone would miss one that left it. A process that also cleared its environment is not found, and on
 * systems without /proc only the group can be asked.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { errnoCode } from '../errno-error.ts';
import { signalGroup } from './spawned-process.ts';

export interface ProcessMark {
  /** Leader of the group it was started in. */
  readonly leader: number;
  /** Text that stands in the environment of no other process. */
  readonly text: string;
}

const LOOK_MS = 25;
const KILL_ROUNDS = 40;

/** Names of the programs still running, after they had `patienceMs` to end by themselves. */
export async function awaitMarked(mark: ProcessMark, patienceMs: number): Promise<readonly string[]> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const left = findMarked(mark);
    if (left.length === 0 || performance.now() >= deadline) return left.map(({ name }) => name);
    await pause(LOOK_MS);
  }
}

/** Kills them, and those they start meanwhile, until none is found. */
export async function killMarked(mark: ProcessMark): Promise<void> {
  for (let round = 0; round < KILL_ROUNDS; round++) {
    signalGroup(mark.leader, 'SIGKILL');
    const left = findMarked(mark);
    if (left.length === 0) return;
    for (const { pid } of left) kill(pid);
    await pause(LOOK_MS);
  }
}

interface Found {
  readonly pid: number;
  readonly name: string;
}

function findMarked(mark: ProcessMark): Found[] {
  const names = list('/proc');
  if (names.length === 0) return answers(-mark.leader) ? [{ pid: mark.leader, name: 'a process of its group' }] : [];
  return names
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid)
    .flatMap((pid) => {
      const stat = readStat(pid);
      const isMarked = stat !== undefined && (stat.group === mark.leader || hasText(pid, mark.text));
      return isMarked ? [{ pid, name: stat.name }] : [];
    });
}

/** Undefined for one that is gone, or has ended and only waits to be collected. */
function readStat(pid: number): { readonly name: string; readonly group: number } | undefined {
  const text = read(`/proc/${pid}/stat`)?.toString('utf8');
  if (text === undefined) return undefined;
  // The name may hold blanks and brackets, so fields are counted from its last bracket on.
  const end = text.lastIndexOf(')');
  const [state, , group] = text.slice(end + 2).split(' ');
  if (state === 'Z' || state === 'X') return undefined;
  return { name: text.slice(text.indexOf('(') + 1, end), group: Number(group) };
}

function hasText(pid: number, text: string): boolean {
  return read(`/proc/${pid}/environ`)?.includes(text) ?? false;
}

function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    // It ended meanwhile, or belongs to someone else and cannot be a child of ours.
    return undefined;
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    // A system without /proc.
    return [];
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
  }
}

function answers(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return errnoCode(thrown) === 'EPERM';
  }
}
