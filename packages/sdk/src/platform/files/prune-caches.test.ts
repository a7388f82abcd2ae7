import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pruneCaches } from './prune-caches.ts';

function openState(t: TestContext) {
  const state = mkdtempSync(join(tmpdir(), 'prune-'));
  t.after(() => rmSync(state, { recursive: true, force: true }));
  const write = (name: string, bytes: number) => {
    mkdirSync(dirname(join(state, 'caches', name)), { recursive: true });
    writeFileSync(join(state, 'caches', name), Buffer.alloc(bytes, 1));
  };
  const left = (folder = '') => readdirSync(join(state, 'caches', folder)).sort();
  return { state, write, left };
}

const MIB = 1024 * 1024;

test('caches that were not used for long go, and links in them lead nowhere', async (t) => {
  const { state, write, left } = openState(t);
  write('old/npm/x', 10);
  write('new/npm/x', 10);
  writeFileSync(join(state, 'journal.key'), 'KEY');
  mkdirSync(join(state, 'kept'));
  symlinkSync('../../../journal.key', join(state, 'caches/old/npm/file'));
  symlinkSync('../../../kept', join(state, 'caches/old/npm/folder'));
  utimesSync(join(state, 'caches/old'), 1000, 1000);
  await pruneCaches(state, {});
  assert.deepEqual(left(), ['new', 'old']);
  await pruneCaches(state, { usedBeforeMs: 2_000_000 });
  assert.deepEqual(left(), ['new']);
  assert.ok(existsSync(join(state, 'journal.key')) && existsSync(join(state, 'kept')));
});

test('of caches that are too large the largest go, in each workspace by itself', async (t) => {
  const { state, write, left } = openState(t);
  write('one/npm/deep/er/x', 3 * MIB);
  write('one/go/x', MIB);
  write('two/npm/x', MIB);
  await pruneCaches(state, { maxBytes: 2 * MIB });
  assert.deepEqual([left('one'), left('two')], [['go'], ['npm']]);
  await pruneCaches(state, { maxBytes: 2 * MIB });
  assert.deepEqual([left('one'), left('two')], [['go'], ['npm']]);
});

test('a state folder without caches is fine', async (t) => {
  const { state } = openState(t);
  await pruneCaches(state, { usedBeforeMs: 1, maxBytes: 1 });
});
