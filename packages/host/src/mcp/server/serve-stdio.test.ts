import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const SOURCE = join(import.meta.dirname, 'serve-stdio.ts');

function exitOf(close: string): number | null {
  const program = `import { inTime } from ${JSON.stringify(SOURCE)}; await inTime(${close}, 1000);`;
  const args = ['-C', 'tool-runtime-source', '--input-type=module', '-e', program];
  return spawnSync(process.execPath, args, { encoding: 'utf8' }).status;
}

test('waiting for what does not keep the process alive ends with 0, not with 13', () => {
  const unheld = '() => new Promise((resolve) => setTimeout(resolve, 50).unref())';
  assert.equal(exitOf(unheld), 0);
  assert.equal(exitOf('() => new Promise(() => {})'), 0);
  const program = `await (${unheld})();`;
  const without = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  assert.equal(without.status, 13);
});

test('a close that fails is told to the caller', () => {
  assert.equal(exitOf("() => Promise.reject(new Error('x'))"), 1);
});
