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
for (let turn = 0; ; turn += 1) {
  put(harmless);
  if (turn % ${REPORTED} === 0) process.stdout.write('.');
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

/**
 * Repeats a call while the process swaps: as often as wanted, and until it has swapped as often, because it may get
 * little time on a busy machine.
 */
export async function underAttack(swap: Swap, times: number, attempt: (count: number) => Promise<void>): Promise<void> {
  const child = spawn(process.execPath, ['-e', SWAP, swap.kind, swap.slot, swap.inside, swap.outside], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let swaps = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    swaps += chunk.length * REPORTED;
  });
  await Promise.race([once(child.stdout, 'data'), ended]);
  try {
    for (let count = 1; count <= times || swaps < times; count += 1) await attempt(count);
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}
