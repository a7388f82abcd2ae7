/** Limits of the kernel: descriptors of the host, memory of what it starts. */
import { execFile, execFileSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { childrenOf, openDescriptors } from '../host/process-tree.ts';
import { between, type Fault } from './fault.ts';

function hasPrlimit(): string | undefined {
  try {
    execFileSync('prlimit', ['--version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'needs prlimit, of util-linux';
  }
}

export const fewDescriptors: Fault = {
  name: 'few-descriptors',
  scope: 'host',
  weight: 3,
  missing: hasPrlimit,
  async inject({ keeper, timeLine, random }) {
    const { host } = keeper;
    if (host === undefined) return false;
    const usual = softLimit(host.pid);
    const limit = openDescriptors(host.pid) + between(random, 0, 6);
    const end = timeLine.begin('few-descriptors', `${limit}`);
    setLimit(host.pid, `--nofile=${limit}:`);
    await pause(between(random, 500, 3000));
    setLimit(host.pid, `--nofile=${usual}:`);
    end();
    return true;
  },
};

/** Nothing to do for a process that has ended meanwhile. */
function setLimit(pid: number, limit: string): void {
  execFile('prlimit', ['--pid', String(pid), limit], () => {});
}

function softLimit(pid: number): string {
  return execFileSync('prlimit', ['--pid', String(pid), '--nofile', '--noheadings', '--output', 'SOFT'], {
    encoding: 'utf8',
  }).trim();
}

/** Too little for most programs, enough for the smallest. */
const MEMORY_BYTES = [4e6, 16e6, 64e6];

export const littleMemory: Fault = {
  name: 'little-memory',
  scope: 'processes',
  weight: 2,
  missing: hasPrlimit,
  async inject({ keeper, timeLine, random }) {
    const bytes = random.pick(MEMORY_BYTES);
    const limited = new Set<number>();
    const end = timeLine.begin('little-memory', `${bytes} bytes for what the host starts`);
    const deadline = performance.now() + between(random, 1000, 3000);
    while (performance.now() < deadline) {
      for (const { pid } of keeper.host === undefined ? [] : childrenOf(keeper.host.pid)) {
        if (limited.has(pid)) continue;
        limited.add(pid);
        setLimit(pid, `--as=${bytes}`);
      }
      await pause(2);
    }
    end();
    return limited.size > 0;
  },
};
