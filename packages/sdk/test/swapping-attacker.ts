/** A process that keeps swapping a folder for a link to outside, as fast as it can, until its input ends. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Exchanges `folder` and `trap` in one step where it can, else by three renames; stops when its input ends. */
const ATTACKER = `
  import { openSync, renameSync } from 'node:fs';
  const [directory, platform] = process.argv.slice(1);
  const { loadNativeCalls } = await import(platform + 'descriptors/native-calls.ts');
  const native = loadNativeCalls();
  const dirFd = openSync(directory, 'r');
  const exchange = native
    ? () => native.rename({ dirFd, name: 'folder' }, { dirFd, name: 'trap' }, 2)
    : () => {
        renameSync(directory + '/folder', directory + '/spare');
        renameSync(directory + '/trap', directory + '/folder');
        renameSync(directory + '/spare', directory + '/trap');
      };
  let isOver = false;
  process.stdin.on('end', () => { isOver = true; }).resume();
  process.stdout.write('ready');
  while (!isOver) {
    for (let round = 0; round < 500; round++) exchange();
    await new Promise(setImmediate);
  }`;

/** Starts it in `inside`, where `folder` and the link `trap` lie; the answer ends it. */
export async function startAttacker(inside: string): Promise<() => Promise<void>> {
  const platform = new URL('../src/platform/', import.meta.url).href;
  const attacker = spawn(
    process.execPath,
    ['-C', 'tool-runtime-source', '--input-type=module', '-e', ATTACKER, inside, platform],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  assert.ok(attacker.stdout);
  await once(attacker.stdout, 'data');
  return async () => {
    const over = once(attacker, 'exit');
    attacker.stdin.end();
    await over;
  };
}
