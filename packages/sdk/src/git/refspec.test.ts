import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { parsePushSpec } from './refspec.ts';

test('a refspec is taken apart, and where it goes is spelled out [S0-49]', () => {
  assert.deepEqual(parsePushSpec('main'), { source: 'main', destination: undefined, force: false });
  assert.deepEqual(parsePushSpec('HEAD:refs/heads/feature'), {
    source: 'HEAD',
    destination: 'refs/heads/feature',
    force: false,
  });
  assert.deepEqual(parsePushSpec('+a:b'), { source: 'a', destination: 'refs/heads/b', force: true });
  assert.deepEqual(parsePushSpec('v1:refs/tags/v1'), { source: 'v1', destination: 'refs/tags/v1', force: false });
  assert.deepEqual(parsePushSpec(':old'), { source: undefined, destination: 'refs/heads/old', force: false });
});

test('wildcards, several colons, other namespaces and empty sides are refused [S0-49]', () => {
  for (const text of [
    '',
    '+',
    ':',
    '*',
    'refs/heads/*:refs/heads/*',
    'a:b:c',
    'a:',
    'a:refs/notes/x',
    'a:-x',
    '-x:a',
    'a:b c',
  ]) {
    assert.throws(
      () => parsePushSpec(text),
      (thrown) => isToolError(thrown) && thrown.code === 'E_GIT',
      text,
    );
  }
});

test('whatever the text, the answer is a refusal or names without options [S0-49]', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 20 }), (text) => {
      try {
        const { source, destination } = parsePushSpec(text);
        assert.ok(source === undefined || !source.startsWith('-'));
        assert.ok(destination === undefined || /^refs\/(?:heads|tags)\/[^-\s]/.test(destination));
      } catch (thrown) {
        assert.ok(isToolError(thrown));
      }
    }),
  );
});
