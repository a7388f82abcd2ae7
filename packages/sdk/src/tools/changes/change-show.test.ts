import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openScratchRuntime } from '../../testing/scratch-runtime.ts';

interface Shown {
  readonly diff?: string;
  readonly paths: readonly { path: string }[];
  readonly withheld: number;
}

const SECRET = 'correct-horse-battery-staple';

test('change_show gives a unified diff, the paths alone, or one file', async (t) => {
  const { session, workspace, dispose } = await openScratchRuntime();
  t.after(dispose);
  writeFileSync(join(workspace, 'a.txt'), 'one\ntwo\n');
  const { change_id } = await session.call('file_edit', { path: 'a.txt', old: 'two', new: 'TWO' });
  const show = async (args: object) =>
    (await session.call('change_show' as string, { change_id: change_id ?? '', ...args })).data as unknown as Shown;
  assert.equal((await show({})).diff, '--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n');
  const stat = await show({ view: 'stat' });
  assert.deepEqual([stat.diff, stat.paths], [undefined, [{ path: 'a.txt', change: 'changed' }]]);
  assert.deepEqual((await show({ path: 'other.txt' })).paths, []);
  assert.deepEqual(await show({ change_id: change_id?.slice(0, 8) }), await show({}));
  const short = await session.call('change_show' as string, { change_id: change_id?.slice(0, 3) ?? '' });
  assert.equal(short.errors[0]?.details?.['reason'], 'unknown_change');
  const missing = await session.call('change_show' as string, { change_id: 'none' });
  assert.equal(missing.errors[0]?.details?.['reason'], 'unknown_change');
});

test('content with a known secret is not kept, so change_show does not show it', async (t) => {
  const { session, workspace, dispose } = await openScratchRuntime({ secrets: [SECRET] });
  t.after(dispose);
  writeFileSync(join(workspace, 'a.txt'), `key ${SECRET}\nline\n`);
  const { change_id } = await session.call('file_write', { path: 'b.txt', content: 'plain\n' });
  const deleted = await session.call('fs_delete', { path: 'a.txt' });
  const diffOf = async (id: string | undefined) =>
    ((await session.call('change_show' as string, { change_id: id ?? '' })).data as unknown as Shown).diff;
  assert.match((await diffOf(change_id)) ?? '', /\+plain/);
  const diff = (await diffOf(deleted.change_id)) ?? '';
  assert.ok(diff.includes('was not kept') && !diff.includes(SECRET), diff);
  const undo = await session.call('change_undo' as string, { change_id: deleted.change_id ?? '' });
  assert.equal(undo.errors[0]?.details?.['reason'], 'not_kept');
});
