import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import type { ChangeSet } from '../../changes/change-set.ts';
import { sha256Hex } from '../digest.ts';
import { openStateFolder } from '../state/state-folder.ts';
import { createChangeStore } from './change-store.ts';

function scene(t: TestContext, maxBytes = 1024 * 1024) {
  const state = openStateFolder(mkdtempSync(join(tmpdir(), 'change-store-')));
  const store = createChangeStore(state, { maxFileBytes: 1024, maxBytes });
  const call = store.forCall();
  t.after(() => {
    store.close();
    rmSync(state.path, { recursive: true, force: true });
  });
  const keep = (text: string): string => {
    const digest = sha256Hex(Buffer.from(text));
    call.keepBytes(digest, Buffer.from(text));
    return digest;
  };
  const put = (id: string, at: number, session = 's') => call.put({ ...set(id, at), session_id: session });
  return { state, store, call, keep, put, file: join(state.path, 'changes.db') };
}

function set(change_id: string, at: number): ChangeSet {
  return { change_id, call_id: change_id, session_id: 's', actor: 'a', tool: 't', at, status: 'applied', paths: [] };
}

test('a change set and its content are there for the next process, in a private file', (t) => {
  const { state, store, keep, put, file } = scene(t);
  const digest = keep('content');
  put('one', 1);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const other = createChangeStore(state, { maxFileBytes: 1024, maxBytes: 1024 });
  assert.deepEqual([other.get('one'), Buffer.from(other.bytes(digest) ?? []).toString()], [set('one', 1), 'content']);
  other.setStatus('one', 'undone');
  other.close();
  assert.equal(store.get('one')?.status, 'undone');
  put('two', 2, 'other');
  assert.deepEqual(
    store.list().map(({ change_id }) => change_id),
    ['two', 'one'],
  );
  assert.deepEqual(store.list({ session_id: 's', status: 'undone' }).length, 1);
});

test('content that is too large is not kept, and damaged content is not returned', async (t) => {
  const { state, store, call, keep, put, file } = scene(t);
  assert.equal(call.keepBytes('d', Buffer.alloc(1025)), false);
  writeFileSync(join(state.path, 'large'), Buffer.alloc(1025));
  assert.equal(await call.keepFile('d', join(state.path, 'large')), false);
  writeFileSync(join(state.path, 'small'), 'small');
  assert.equal(await call.keepFile(sha256Hex(Buffer.from('small')), join(state.path, 'small')), true);
  const digest = keep('right');
  put('one', 1);
  assert.equal(Buffer.from(store.bytes(digest) ?? []).toString(), 'right');
  const database = new DatabaseSync(file);
  database.exec("UPDATE content SET bytes = x'00'");
  database.close();
  assert.equal(store.bytes(digest), undefined);
});

test('old sets are deleted by age and by size, with the content that no other set needs', (t) => {
  const { store, keep, put } = scene(t);
  const old = keep('old');
  put('old', 1);
  const shared = keep('shared');
  put('middle', 10);
  keep('shared');
  put('new', 20);
  assert.equal(store.prune({ beforeMs: 15 }).removed, 2);
  assert.deepEqual([store.get('old'), store.bytes(old)], [undefined, undefined]);
  assert.deepEqual([store.get('new')?.change_id, store.bytes(shared) !== undefined], ['new', true]);
  for (let at = 100; at < 140; at++) {
    keep(`${at} ${'x'.repeat(900)}`);
    put(`s${at}`, at);
  }
  assert.ok(store.prune({ maxBytes: 10_000 }).removed > 20);
  assert.ok(store.list({ limit: 100 }).length > 5);
  assert.equal(store.list()[0]?.change_id, 's139');
});

test('content that a call kept is gone with it when it leaves no change set, and stays with one that it leaves', (t) => {
  const { store } = scene(t);
  const digest = sha256Hex(Buffer.from('content'));
  const failing = store.forCall();
  failing.keepBytes(digest, Buffer.from('content'));
  assert.ok(failing.bytes(digest), 'the call itself has it');
  store.forCall().put(set('other', 1));
  assert.equal(store.bytes(digest), undefined);
  const lasting = store.forCall();
  lasting.keepBytes(digest, Buffer.from('content'));
  lasting.put(set('one', 2));
  assert.ok(store.bytes(digest));
});
