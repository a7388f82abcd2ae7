/**
 * Finds processes by a mark in their arguments. The suite and the server may be in different process namespaces, so
 * it looks at the table of the machine and does not trust process ids that a server reports.
 */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** The machine lacks what a case needs. */
export class DoesNotApply extends Error {}

/** A number of seconds that no other `sleep` on the machine has. */
export function sleepMark(): string {
  return `${randomInt(40_000, 90_000)}.${randomInt(100_000, 999_999)}`;
}

export function findMarked(mark: string): number[] {
  const { stdout, error } = spawnSync('ps', ['-A', '-ww', '-o', 'pid=,args='], {
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  if (error !== undefined) throw new DoesNotApply('needs the program ps');
  // Only `sleep` itself: shells and wrappers around it have the mark in their arguments too, and end with it.
  const line = new RegExp(`^\\s*(\\d+)\\s+(?:\\S*/)?sleep ${mark.replace('.', '\\.')}$`, 'gm');
  return [...stdout.matchAll(line)].map(([, pid]) => Number(pid));
}

const POLL_MS = 25;

/** Resolves with whether it came to be: `wanted` processes with the mark, within the time. */
export async function awaitMarked(mark: string, wanted: 'running' | 'gone', milliseconds: number): Promise<boolean> {
  const end = Date.now() + milliseconds;
  for (;;) {
    if (findMarked(mark).length > 0 === (wanted === 'running')) return true;
    if (Date.now() > end) return false;
    await sleep(POLL_MS);
  }
}

/** So that a faulty server leaves nothing behind on the machine. */
export function endMarked(mark: string): void {
  for (const pid of findMarked(mark)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended by itself.
    }
  }
}
