/**
 * A journal of the version before one-flush reads, opened, verified and continued.
 *
 * This file is also the program that made the fixture: `node -C tool-runtime-source <this file> make` in a checkout of
 * commit e003b76, which prints it.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { createRuntime } from '../src/index.ts';
import { openJournalReader } from '../src/journal/store/journal-reader.ts';

interface Fixture {
  readonly head: { readonly seq: number; readonly mac: string };
  /** Name in the state folder → compressed content. */
  readonly files: Readonly<Record<string, string>>;
}

const KEYED = ['file_write', { path: 'kept.txt', content: 'keyed' }, { idempotencyKey: 'job-1' }] as const;

async function inScratch<T>(use: (workspace: string, state: string) => Promise<T>): Promise<T> {
  const scratch = mkdtempSync(join(tmpdir(), 'previous-journal-'));
  mkdirSync(join(scratch, 'work'));
  try {
    return await use(join(scratch, 'work'), join(scratch, 'state'));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function make(): Promise<Fixture> {
  return inScratch(async (workspace, state) => {
    const runtime = await createRuntime({ workspace, state });
    const session = await runtime.openSession({ actor: 'you', client: 'fixture' });
    await session.call(...KEYED);
    for (let call = 0; call < 8; call++) await session.call('file_read', { path: 'kept.txt' });
    await session.call('file_read', { path: '../outside' });
    await Promise.all([1, 2, 3].map((at) => session.call('file_write', { path: `${at}.txt`, content: 'x' })));
    await runtime.rotateJournal({ keepRecords: 20 });
    await session.call('file_read', { path: '1.txt' });
    await runtime.close();
    const files = readdirSync(state, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const names = files.map(({ parentPath, name }) => join(parentPath, name).slice(state.length + 1));
    const kept = names.filter((name) => /^(journal|heads\/)/.test(name));
    const packed = kept.map((name) => [
      name,
      gzipSync(readFileSync(join(state, name)), { level: 9 }).toString('base64'),
    ]);
    const reader = openJournalReader(state);
    const { head } = reader.verify();
    reader.close();
    return { head, files: Object.fromEntries(packed) as Record<string, string> };
  });
}

function layDown(state: string): Fixture {
  const fixture = JSON.parse(
    readFileSync(new URL('./fixtures/previous-journal.json', import.meta.url), 'utf8'),
  ) as Fixture;
  for (const [name, content] of Object.entries(fixture.files)) {
    mkdirSync(dirname(join(state, name)), { recursive: true, mode: 0o700 });
    writeFileSync(join(state, name), gunzipSync(Buffer.from(content, 'base64')), { mode: 0o600 });
  }
  return fixture;
}

if (process.argv[2] === 'make') console.log(JSON.stringify(await make(), undefined, 2));
else
  test('a journal of the previous version verifies, answers its keys and is continued as one chain [S1-41]', () =>
    inScratch(async (workspace, state) => {
      const { head } = layDown(state);
      const reader = openJournalReader(state);
      const before = [...reader.records({ archived: true })];
      assert.deepEqual([before.length, reader.verify(head, { archives: true }).ok], [head.seq, true]);
      reader.close();

      const runtime = await createRuntime({ workspace, state });
      const session = await runtime.openSession({ actor: 'you', client: 'fixture' });
      assert.equal((await session.call(...KEYED)).ok, true);
      assert.throws(() => readFileSync(join(workspace, 'kept.txt')), 'the key was answered from the record');
      writeFileSync(join(workspace, 'kept.txt'), 'again');
      assert.equal((await session.call('file_read', { path: 'kept.txt' })).ok, true);
      assert.equal((await session.call('file_write', { path: 'new.txt', content: 'x' })).ok, true);
      assert.equal(runtime.verify(head).ok, true);
      await runtime.close();

      const later = openJournalReader(state);
      assert.equal(later.verify(head, { archives: true }).ok, true);
      const after = [...later.records({ archived: true })];
      later.close();
      assert.deepEqual(after.slice(0, before.length), before);
      const added = after.slice(before.length).map(({ kind }) => kind);
      assert.deepEqual(
        added.filter((kind) => kind !== 'session' && kind !== 'checkpoint'),
        ['requested', 'decision', ...Array(2).fill(['requested', 'decision', 'intent', 'result']).flat()],
      );
    }));
