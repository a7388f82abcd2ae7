import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openScratchRuntime } from '../../testing/scratch-runtime.ts';

interface Listed {
  readonly changes: readonly { change_id: string; tool: string; status: string; paths: unknown; withheld: number }[];
}

test('change_list lists what calls changed, newest first, and what became of it', async (t) => {
  const { session, dispose } = await openScratchRuntime();
  t.after(dispose);
  const first = await session.call('file_write', { path: 'a.txt', content: 'a\n' });
  const second = await session.call('file_write', { path: 'b.txt', content: 'b\n' });
  assert.ok(first.change_id !== undefined && first.change_id !== second.change_id);
  await session.call('file_write', { path: 'b.txt', content: 'b\n' });
  await session.call('change_undo' as string, { change_id: first.change_id });
  const listed = await session.call('change_list' as string, {});
  assert.equal(listed.change_id, undefined, 'reading changes nothing');
  const { changes } = listed.data as unknown as Listed;
  assert.deepEqual(
    changes.map(({ tool, status, paths }) => [tool, status, paths]),
    [
      ['change_undo', 'applied', [{ path: 'a.txt', change: 'deleted' }]],
      ['file_write', 'applied', [{ path: 'b.txt', change: 'created' }]],
      ['file_write', 'undone', [{ path: 'a.txt', change: 'created' }]],
    ],
  );
  const undone = await session.call('change_list' as string, { status: 'undone', own: true });
  assert.deepEqual(
    (undone.data as unknown as Listed).changes.map(({ change_id }) => change_id),
    [first.change_id],
  );
});

test('without change sets in the registry no call leaves one', async (t) => {
  const registry = { text: 'changes: { record: false }\n', file: 'registry.yaml' };
  const { session, dispose } = await openScratchRuntime({ registry });
  t.after(dispose);
  const written = await session.call('file_write', { path: 'a.txt', content: 'a\n' });
  assert.deepEqual([written.ok, written.change_id], [true, undefined]);
  const listed = await session.call('change_list' as string, {});
  assert.deepEqual((listed.data as unknown as Listed).changes, []);
});
