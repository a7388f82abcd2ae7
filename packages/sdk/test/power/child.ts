/** Makes one call after the other and says on stdout when each was answered. Traced by ../power.deep.test.ts. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createRuntime } from '../../src/index.ts';

const [workspace = '', state = '', level = 'normal'] = process.argv.slice(2);

const CALLS: readonly (readonly [string, Record<string, unknown>])[] = [
  ['file_write', { path: 'a/b/new.txt', content: 'new', create_dirs: true }],
  ['file_write', { path: 'old.txt', content: 'replaced' }],
  ['file_write', { path: 'old.txt', content: ' and more', append: true }],
  ['file_read', { path: 'old.txt' }],
  ['file_patch', { path: 'patched.txt', diff: '--- a/patched.txt\n+++ b/patched.txt\n@@ -1 +1 @@\n-one\n+two\n' }],
  ['fs_copy', { from: 'old.txt', to: 'c/copy.txt', create_dirs: true }],
  ['fs_copy', { from: 'tree', to: 'tree2' }],
  ['fs_move', { from: 'old.txt', to: 'a/moved.txt' }],
  ['fs_move', { from: 'tree', to: 'd/tree', create_dirs: true }],
  ['fs_delete', { path: 'gone.txt' }],
  ['file_read', { path: 'a/moved.txt' }],
  ['file_read', { path: 'patched.txt' }],
  ['fs_delete', { path: 'tree2', recursive: true }],
  ['file_write', { path: 'large.txt', content: 'x'.repeat(300_000) }],
];

const runtime = await createRuntime({ workspace, state, durability: level === 'full' ? 'full' : 'normal' });
const session = await runtime.openSession({});
for (const [at, [tool, args]] of CALLS.entries()) {
  // A read without a key is recorded in one flush.
  const { ok, errors } = await session.call(tool, args, tool === 'file_read' ? {} : { idempotencyKey: `key-${at}` });
  process.stdout.write(`${ok ? 'ACK' : 'FAILED'} ${at} ${JSON.stringify(errors)}\n`);
  if (at === 5) await nextMark();
}
await runtime.close();

/** The mark of this process has been written again: what was answered so far is on the disk. */
async function nextMark(): Promise<void> {
  const folder = join(state, 'heads');
  const read = (): string =>
    readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join();
  const before = read();
  // Without a sync the test itself says what is lost.
  for (let tries = 0; read() === before && tries < 1500; tries++) await pause(20);
}
