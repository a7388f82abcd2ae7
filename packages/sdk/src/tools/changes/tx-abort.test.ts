import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { transactionScene } from '../../../test/transaction-scene.ts';

test('tx_abort leaves the workspace and the state folder as they were', async (t) => {
  const { done, refused, put, states, state } = await transactionScene(t);
  put('a.txt', 'a\n');
  const before = states();
  assert.equal((await refused('tx_abort'))['reason'], 'unknown_tx');
  const { tx_id } = await done('tx_begin');
  await done('file_write', { path: 'a.txt', content: 'b\n' });
  await done('shell_exec', { cmd: 'mkdir -p x/y && echo z > x/y/z && rm a.txt' });
  assert.deepEqual(await done('tx_abort'), { tx_id, discarded: 4 });
  assert.deepEqual(states(), before);
  assert.deepEqual((await done('change_list'))['changes'], []);
  assert.equal((await refused('tx_commit', { tx_id }))['reason'], 'tx_aborted');
  assert.deepEqual(readdirSync(join(state, 'transactions')), []);
  // An empty overlay is kept ready for the next transaction.
  const kept = readdirSync(join(state, 'overlays'), { recursive: true, encoding: 'utf8' });
  assert.deepEqual(
    kept.filter((path) => path.includes('/upper/')),
    [],
  );
});
