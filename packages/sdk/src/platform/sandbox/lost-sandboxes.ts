/**
 * Ends walls that outlived whoever built them.
 *
 * Bubblewrap ties its life to its parent's, but late: whoever is killed while a wall is being built leaves its inner half
 * behind, which then runs the command with nobody to bound it, or waits for ever. Such a wall has our folder among its
 * words, and a parent that is neither the other half of a wall nor somebody who has the journal of that folder open.
 */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** What a round ends may uncover another: the inner half of a wall whose outer half was lost, too. */
const ROUNDS = 3;

/** `state`: the folder whose walls are meant. Answers how many processes were ended; none where there is no /proc. */
export function endLostSandboxes(state: string): number {
  const ended = new Set<number>();
  for (let round = 0; round < ROUNDS; round++) {
    const found = listed('/proc').map(Number);
    const lost = found.filter((pid) => pid > 0 && !ended.has(pid) && isLostSandbox(pid, state));
    if (lost.length === 0) break;
    for (const pid of lost.filter(kill)) ended.add(pid);
  }
  return ended.size;
}

function isLostSandbox(pid: number, state: string): boolean {
  if (!isSandbox(pid, state) || ownerOf(pid) !== process.geteuid?.()) return false;
  const parent = parentOf(pid);
  return parent !== undefined && !isSandbox(parent, state) && !hasOpen(parent, join(state, 'journal.db'));
}

function isSandbox(pid: number, state: string): boolean {
  const words = textOf(`/proc/${pid}/cmdline`);
  return words.includes('\0--die-with-parent\0') && words.includes(`\0${join(state, 'wall')}/`);
}

/** Undefined for one that is gone, or has ended and only waits to be collected. */
function parentOf(pid: number): number | undefined {
  const text = textOf(`/proc/${pid}/stat`);
  // The name may hold blanks and brackets, so fields are counted from its last bracket on.
  const [state, parent] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return text === '' || state === 'Z' || state === 'X' ? undefined : Number(parent);
}

function hasOpen(pid: number, path: string): boolean {
  return listed(`/proc/${pid}/fd`).some((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`) === path;
    } catch {
      // Closed meanwhile.
      return false;
    }
  });
}

function ownerOf(pid: number): number | undefined {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It ended meanwhile, or belongs to someone who hides it.
    return '';
  }
}

function listed(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    // A system without /proc, or a process that ended meanwhile or is somebody else's.
    return [];
  }
}

function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    // Ended meanwhile.
    return false;
  }
}
