import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createScratch, runCli } from '../../../test/run-cli.ts';
import { startServe } from '../../../test/start-serve.ts';

test('ends the host of the state folder and leaves nothing behind that says there is one (deep)', async () => {
  using scratch = createScratch();
  await using host = await startServe(scratch);
  const stopped = await runCli(['stop', ...scratch.options]);
  assert.deepEqual([stopped.code, stopped.stdout], [0, 'stopped\n']);
  assert.equal(await host.ended(), 0);
  assert.equal(existsSync(join(scratch.state, 'host.json')), false);
  assert.equal(existsSync(host.socket), false);
});

test('has nothing to stop where no host runs, and says so', async () => {
  using scratch = createScratch();
  const { code, stderr } = await runCli(['stop', ...scratch.options]);
  assert.equal(code, 1);
  assert.match(stderr, /No host runs/);
});
