import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { endLostSandboxes } from './lost-sandboxes.ts';

/** A process with the words of a wall, started by one that is gone; answers its number. */
async function plantLost(...words: string[]): Promise<number> {
  const inner = `setInterval(() => {}, 1000)`;
  const outer = `const child = require('node:child_process').spawn(process.execPath,
    ['-e', ${JSON.stringify(inner)}, '--', ...process.argv.slice(1)], { detached: true, stdio: 'ignore' });
    child.once('spawn', () => { console.log(child.pid); child.unref(); });`;
  const parent = spawn(process.execPath, ['-e', outer, '--', ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  parent.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  await once(parent, 'close');
  // Signals to number 0 would go to ourselves.
  assert.match(said, /^[1-9]\d*\n$/);
  return Number(said);
}

function isRunning(pid: number): boolean {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/^[ZX]/.test(text.slice(text.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

async function untilGone(pid: number): Promise<void> {
  while (isRunning(pid)) await wait(10);
}

async function withState(use: (state: string) => Promise<void>): Promise<void> {
  const state = realpathSync(mkdtempSync(join(tmpdir(), 'tool-runtime-walls-')));
  try {
    await use(state);
  } finally {
    rmSync(state, { recursive: true });
  }
}

const sandboxWords = (state: string) => ['--die-with-parent', '--ro-bind', join(state, 'wall/etc-1'), '/etc'];

describe('lost walls', () => {
  test('one whose builder is gone is ended', () =>
    withState(async (state) => {
      const pid = await plantLost(...sandboxWords(state));
      assert.equal(isRunning(pid), true);
      assert.equal(endLostSandboxes(state), 1);
      await untilGone(pid);
      assert.equal(endLostSandboxes(state), 0);
    }));

  test('one whose builder lives and has the journal open is left alone, as are those of other folders', () =>
    withState(async (state) => {
      const journal = openSync(join(state, 'journal.db'), 'w');
      const words = ['-e', 'setInterval(() => {}, 1000)', '--', ...sandboxWords(state)];
      const own = spawn(process.execPath, words, { stdio: 'ignore' });
      await once(own, 'spawn');
      const foreign = await plantLost(...sandboxWords(`${state}-other`));
      const plain = await plantLost('--ro-bind', join(state, 'wall/etc-1'), '/etc');
      try {
        assert.equal(endLostSandboxes(state), 0);
        assert.deepEqual([own.pid ?? 0, foreign, plain].map(isRunning), [true, true, true]);
        closeSync(journal);
        assert.equal(endLostSandboxes(state), 1);
        await once(own, 'close');
      } finally {
        for (const pid of [foreign, plain]) process.kill(pid, 'SIGKILL');
      }
    }));
});
