import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { PathState } from '../../changes/change-set.ts';
import { createChangeStore } from '../../platform/commit/change-store.ts';
import { sha256Hex } from '../../platform/digest.ts';
import { openStateFolder } from '../../platform/state/state-folder.ts';
import { openScratchRuntime } from '../../testing/scratch-runtime.ts';

const BOUNDS = { maxFileBytes: 1024, maxBytes: 1024 * 1024 };
const file = (text: string): PathState => ({
  kind: 'file',
  digest: sha256Hex(Buffer.from(text)),
  size: text.length,
  mode: 0o644,
});

/** A runtime with a pending change set, as a previewed command leaves it. */
async function scene(t: TestContext, path = 'a.txt') {
  const scratch = await openScratchRuntime();
  t.after(scratch.dispose);
  writeFileSync(join(scratch.workspace, 'a.txt'), 'old\n', { mode: 0o644 });
  const changes = createChangeStore(openStateFolder(scratch.state), BOUNDS);
  const store = changes.forCall();
  store.keepBytes(sha256Hex(Buffer.from('new\n')), Buffer.from('new\n'));
  store.put({
    ...{
      change_id: 'pending-1',
      call_id: 'c',
      session_id: 's',
      actor: 'a',
      tool: 'shell_exec',
      at: 1,
      status: 'pending',
    },
    paths: [
      { path, before: path === 'a.txt' ? file('old\n') : { kind: 'absent' }, after: file('new\n') },
      { path: 'made', before: { kind: 'absent' }, after: { kind: 'folder', mode: 0o755 } },
      { path: 'made/b.txt', before: { kind: 'absent' }, after: file('new\n') },
    ],
  });
  changes.close();
  const ask = (tool: string, change_id = 'pending-1') => scratch.session.call(tool, { change_id });
  return { ...scratch, ask, text: (name: string) => readFileSync(join(scratch.workspace, name), 'utf8') };
}

test('change_apply makes a pending change set real once, and the apply can be undone', async (t) => {
  const { ask, text, workspace } = await scene(t);
  const applied = await ask('change_apply');
  assert.ok(applied.ok, JSON.stringify(applied.errors));
  assert.deepEqual([text('a.txt'), text('made/b.txt')], ['new\n', 'new\n']);
  assert.equal((await ask('change_apply')).errors[0]?.details?.['reason'], 'not_pending');
  assert.ok((await ask('change_undo', applied.change_id)).ok);
  assert.deepEqual([text('a.txt'), existsSync(join(workspace, 'made'))], ['old\n', false]);
});

test('change_apply writes nothing when a file changed since, or is protected', async (t) => {
  const { ask, text, workspace } = await scene(t);
  writeFileSync(join(workspace, 'a.txt'), 'by hand\n');
  const refused = await ask('change_apply');
  assert.deepEqual([refused.ok, refused.errors[0]?.details?.['reason']], [false, 'precondition_failed']);
  assert.deepEqual([text('a.txt'), existsSync(join(workspace, 'made'))], ['by hand\n', false]);
  assert.equal(refused.change_id, undefined);

  const guarded = await scene(t, '.git/config');
  const denied = await guarded.ask('change_apply');
  assert.deepEqual([denied.ok, denied.errors[0]?.code], [false, 'E_POLICY']);
  assert.equal(existsSync(join(guarded.workspace, 'made')), false);
});
