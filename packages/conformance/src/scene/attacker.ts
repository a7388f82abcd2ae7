/**
 * A process that swaps a name in the workspace as fast as it can while calls are made. Each state is renamed into place,
 * so the name exists at every moment: first as something harmless, then as a link that leads out.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** It reports after so many swaps. */
const REPORTED = 20;

const SWAP = `
const fs = process.getBuiltinModule('node:fs');
const [kind, slot, inside, outside] = process.argv.slice(1);
const next = slot + '.next';
const harmless = kind === 'file' ? () => fs.writeFileSync(next, inside) : () => fs.symlinkSync(inside, next);
const put = (make) => {
  try {
    make();
    fs.renameSync(next, slot);
  } catch {
    // A server may have put something in the way.
    fs.rmSync(next, { force: true, recursive: true });
  }
};
// A write fails once the suite is gone.
const report = () => {
  try {
    fs.writeSync(1, '.');
  } catch {
    process.exit();
  }
};
for (let turn = 0; ; turn += 1) {
  put(harmless);
  if (turn % ${REPORTED} === 0) report();
  put(() => fs.symlinkSync(outside, next));
}`;

export interface Swap {
  /** A regular file and a link to a file, or two links to folders. */
  readonly kind: 'file' | 'folder';
  /** Absolute. */
  readonly slot: string;
  /** Text of the file, or target of the harmless link. */
  readonly inside: string;
  readonly outside: string;
}

/** Attempts at the most for each one that is wanted. */
const PATIENCE = 50;

/**
 * Repeats a call while the process swaps. Only attempts during which it swapped count, because it may get little time on
 * a busy machine.
 */
export async function underAttack(swap: Swap, times: number, attempt: (count: number) => Promise<void>): Promise<void> {
  const child = spawn(process.execPath, ['-e', SWAP, swap.kind, swap.slot, swap.inside, swap.outside], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let reports = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    reports += chunk.length;
  });
  await Promise.race([once(child.stdout, 'data'), ended]);
  try {
    for (let count = 1, contested = 0; contested < times && count <= times * PATIENCE; count += 1) {
      const before = reports;
      await attempt(count);
      if (reports > before) contested += 1;
    }
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}
