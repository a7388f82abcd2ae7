import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { checkBranchName, checkRemoteName, checkRevision, parsePushSpec } from './ref-names.ts';

function accepts(check: () => unknown): boolean {
  try {
    check();
    return true;
  } catch (thrown) {
    assert.ok(isToolError(thrown) && thrown.code === 'E_GIT');
    return false;
  }
}

test('a branch name we accept is one git accepts [S0-46]', () => {
  const piece = fc.constantFrom(
    'a',
    'B',
    '1',
    '-',
    '_',
    '.',
    '/',
    '..',
    '@',
    '{',
    '@{',
    '~',
    '^',
    ':',
    ' ',
    '.lock',
    '*',
    'ü',
    '\\',
    '\t',
    'HEAD',
  );
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 6 }), (pieces) => {
      const name = pieces.join('');
      if (!accepts(() => checkBranchName(name, 'target'))) return;
      const { status } = spawnSync('git', ['check-ref-format', `refs/heads/${name}`]);
      assert.equal(status, 0, JSON.stringify(name));
    }),
    { numRuns: 150 },
  );
});

test('ordinary names pass, option-like and magic ones do not [S0-46]', () => {
  for (const name of ['main', 'feat/x-1', 'release/1.2', 'ünïcode', 'a@b'])
    assert.ok(accepts(() => checkBranchName(name, 'x')));
  for (const name of [
    '',
    '-b',
    '--force',
    'HEAD',
    '@',
    'a..b',
    'a b',
    'a\nb',
    'x.lock',
    '.x',
    'a/.b',
    'a//b',
    '@{-1}',
    'a:b',
  ]) {
    assert.ok(!accepts(() => checkBranchName(name, 'x')), JSON.stringify(name));
  }
});

test('a revision may be an expression, never an option or two lines [S0-43]', () => {
  for (const text of ['HEAD~2', 'v1.0^{commit}', 'main@{upstream}', ':/fix bug', 'a1b2c3']) {
    assert.ok(
      accepts(() => checkRevision(text, 'rev')),
      text,
    );
  }
  for (const text of ['', '-h', '--output=x', 'a\nb', 'a\0b', 'x'.repeat(300)]) {
    assert.ok(!accepts(() => checkRevision(text, 'rev')), JSON.stringify(text));
  }
});

test('a remote is a name, not an address [S0-49]', () => {
  for (const name of ['origin', 'team/fork', 'up-stream_2']) assert.ok(accepts(() => checkRemoteName(name)));
  for (const name of ['', '-o', 'https://x/y', 'git@x:y', 'ext::sh', '/tmp/x.git/', '../x']) {
    assert.ok(!accepts(() => checkRemoteName(name)), name);
  }
});

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
