import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { artifactStoreSuite } from '../../testing/artifact-suite.ts';
import { digest } from '../digest.ts';
import { createArtifactFiles } from './artifact-files.ts';

function withStore(use: (store: ReturnType<typeof createArtifactFiles>, folder: string) => void): void {
  const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-artifacts-'));
  try {
    use(createArtifactFiles(scratch), join(scratch, 'artifacts'));
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

describe('artifacts [S2-22]', () => {
  test('what was written is read back by pages, from the front and from the end, under its digest [S2-22]', () =>
    withStore((store, folder) => {
      const writer = store.create();
      writer.write(Buffer.from('hello '));
      writer.write(Buffer.from('artifact'));
      const ref = writer.finish();
      assert.deepEqual([ref.bytes, ref.digest], [14, digest('hello artifact')]);
      const text = (range: { offset: number; length: number }) =>
        Buffer.from(store.read(ref.handle, range).bytes).toString();
      assert.equal(text({ offset: 0, length: 5 }), 'hello');
      assert.equal(text({ offset: -8, length: 100 }), 'artifact');
      assert.equal(text({ offset: 99, length: 5 }), '');
      assert.equal(statSync(join(folder, ref.handle.slice(9))).mode & 0o777, 0o600);
      assert.equal(statSync(folder).mode & 0o777, 0o700);
    }));

  test('an unknown or crafted handle is E_FILE_IO and reaches no other file', () =>
    withStore((store) => {
      for (const handle of ['artifact:../journal.db', 'artifact:', `artifact:${'0'.repeat(32)}`, '../x', '']) {
        assert.throws(() => store.read(handle, { offset: 0, length: 1 }), { code: 'E_FILE_IO' });
      }
    }));

  test('a discarded writer leaves nothing, and pruning removes the oldest beyond the limits', () =>
    withStore((store, folder) => {
      store.create().discard();
      assert.deepEqual(readdirSync(folder), []);
      const refs = ['a', 'b', 'c'].map((text) => {
        const writer = store.create();
        writer.write(Buffer.from(text.repeat(10)));
        return writer.finish();
      });
      const now = Date.now();
      assert.equal(store.prune({ maxAgeMs: 60_000, maxBytes: 1000, now }), 0);
      assert.equal(store.prune({ maxAgeMs: 60_000, maxBytes: 20, now }), 1);
      assert.equal(store.prune({ maxAgeMs: 0, maxBytes: 1000, now: now + 1000 }), 2);
      assert.throws(() => store.read(refs[0]?.handle ?? '', { offset: 0, length: 1 }), { code: 'E_FILE_IO' });
    }));

  test('a store that lives long goes on pruning, not only when its first artifact is made', () =>
    withStore((store, folder) => {
      store.create().finish();
      const old = store.create().finish();
      const longAgo = Date.now() / 1000 - 8 * 24 * 60 * 60;
      utimesSync(join(folder, old.handle.slice(9)), longAgo, longAgo);
      for (let made = 0; made < 100; made++) store.create().discard();
      assert.equal(readdirSync(folder).length, 1);
    }));

  test('a small disk is not filled: the oldest give way, and half of it stays free for the journal', () => {
    const disk = mkdtempSync(join(tmpdir(), 'tool-runtime-disk-'));
    const script = `
      import { statfsSync } from 'node:fs';
      import { createArtifactFiles } from ${JSON.stringify(join(import.meta.dirname, 'artifact-files.ts'))};
      const store = createArtifactFiles(${JSON.stringify(disk)});
      const handles = [];
      for (let made = 0; made < 100; made++) {
        const writer = store.create();
        writer.write(Buffer.alloc(1024 * 1024));
        handles.push(writer.finish().handle);
      }
      const last = store.read(handles.at(-1), { offset: 0, length: 1 }).totalBytes;
      const { bavail, blocks } = statfsSync(${JSON.stringify(disk)});
      console.log(JSON.stringify({ last, free: bavail / blocks }));`;
    const sandboxes = ['--bind', '/', '/', '--dev', '/dev', '--size', String(32 * 1024 * 1024), '--tmpfs', disk];
    const node = [process.execPath, '-C', 'tool-runtime-source', '--input-type=module', '-e', script];
    try {
      const told = execFileSync('bwrap', [...sandboxes, '--', ...node], { encoding: 'utf8' });
      const { last, free } = JSON.parse(told) as { last: number; free: number };
      assert.equal(last, 1024 * 1024);
      assert.ok(free > 0.4, `${free} of the disk is free`);
    } finally {
      rmSync(disk, { recursive: true });
    }
  });
});

artifactStoreSuite('files in the state folder', async (t) => {
  const state = mkdtempSync(join(tmpdir(), 'tool-runtime-artifacts-'));
  t.after(() => rmSync(state, { recursive: true }));
  const store = createArtifactFiles(state);
  return { first: store, second: store, settled: async () => {} };
});
