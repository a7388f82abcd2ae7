import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callSubject, digest, token, tunnelSubject, untoken, workspaceSubject } from './names.ts';

test('an id is one token of a subject, whatever it holds', () => {
  for (const id of ['shop', 'a.b', 'a>b', '*', 'x y', 'ä', '', '.', 'b64_', 'sha_1', 'a'.repeat(500)]) {
    assert.match(token(id), /^[A-Za-z0-9_-]+$/, id);
    if (id.length < 60) assert.equal(untoken(token(id)), id);
  }
});

test('different ids have different tokens', () => {
  const ids = ['a', 'b64_YQ', 'YQ', 'a.', 'b64_YS4', 'a..', `${'a'.repeat(100)}b`, `${'a'.repeat(100)}c`, 'sha_x'];
  assert.equal(new Set(ids.map(token)).size, ids.length);
});

test('a name cannot reach into the subjects of another', () => {
  const subject = tunnelSubject('main', 'shop.agent', 'x.>', 'id');
  assert.equal(subject.split('.').length, 6);
  assert.ok(!subject.startsWith(`${workspaceSubject('main', 'shop')}.`));
});

test('parts of a digest keep their borders', () => {
  assert.notEqual(digest('ab', 'c'), digest('a', 'bc'));
  assert.notEqual(callSubject('t', 'w', 'scope', 'key'), callSubject('t', 'w', 'scopek', 'ey'));
});
