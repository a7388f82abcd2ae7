/** Waits, within reason, until no other program needs the processors. */
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const WINDOW_MS = 100;
const IDLE_SHARE = 0.7;

/** False when the machine was still busy after `longestMs`. */
export async function quietMachine(longestMs: number): Promise<boolean> {
  const until = performance.now() + longestMs;
  while (performance.now() < until) {
    const before = processorTimes();
    await sleep(WINDOW_MS);
    const after = processorTimes();
    if ((after.idle - before.idle) / (after.total - before.total) >= IDLE_SHARE) return true;
  }
  return false;
}

function processorTimes(): { idle: number; total: number } {
  let idle = 0;
  let total = 0;
  for (const { times } of cpus()) {
    idle += times.idle;
    total += times.idle + times.user + times.sys + times.nice + times.irq;
  }
  return { idle, total };
}
