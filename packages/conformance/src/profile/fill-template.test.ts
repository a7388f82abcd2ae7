import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillTemplate, splitCommand } from './fill-template.ts';

test('fills names in every text of a template, and inserts values as they are', () => {
  const template = { path: '{path}', edits: [{ old: '{old}', keep: '{unknown}', count: 1 }], all: true };
  assert.deepEqual(fillTemplate(template, { path: 'a.txt', old: '{path} $& $1' }), {
    path: 'a.txt',
    edits: [{ old: '{path} $& $1', keep: '{unknown}', count: 1 }],
    all: true,
  });
});

test('splits a command into words: variables may be several, folders are one', () => {
  const words = splitCommand(
    `{program} serve "two words" --at={workspace}/x 'a "b"'`,
    { program: 'node "my program.js"' },
    { workspace: '/tmp/with blank' },
  );
  assert.deepEqual(words, ['node', 'my program.js', 'serve', 'two words', '--at=/tmp/with blank/x', 'a "b"']);
});
