import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createScratch, runCli } from '../../../test/run-cli.ts';

describe('tool-runtime external', () => {
  test('has the commands that run, runs, tool and lock are older names of', async () => {
    const { code, stdout } = await runCli(['external', '--help']);
    assert.equal(code, 0);
    for (const name of ['run', 'list', 'show', 'verify', 'prune', 'check', 'lock']) {
      assert.match(stdout, new RegExp(`^  ${name}\\b`, 'm'), name);
    }
  });

  test('lists what runs lists', async () => {
    using scratch = createScratch();
    const [now, older] = await Promise.all([
      runCli(['external', 'list', ...scratch.options]),
      runCli(['runs', 'list', ...scratch.options]),
    ]);
    assert.deepEqual([now, now.stdout], [older, 'no runs\n']);
  });
});
