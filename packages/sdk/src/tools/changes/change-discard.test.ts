import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChangeStore } from '../../platform/commit/change-store.ts';
import { openStateFolder } from '../../platform/state/state-folder.ts';
import { openScratchRuntime } from '../../testing/scratch-runtime.ts';

test('change_discard drops a pending change set, and only such a one', async (t) => {
  const { session, state, dispose } = await openScratchRuntime();
  t.after(dispose);
  const store = createChangeStore(openStateFolder(state), { maxFileBytes: 1, maxBytes: 1 });
  const who = { call_id: 'c', session_id: 's', actor: 'a', tool: 'shell_exec', at: 1, status: 'pending' } as const;
  store.put({ change_id: 'pending-1', ...who, paths: [] });
  store.close();
  const ask = (tool: string) => session.call(tool, { change_id: 'pending-1' });
  assert.ok((await ask('change_discard')).ok);
  assert.equal((await ask('change_discard')).errors[0]?.details?.['reason'], 'not_pending');
  assert.equal((await ask('change_apply')).errors[0]?.details?.['reason'], 'not_pending');
});
