import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { cleanPath, globPathspecs, literalPathspec } from './pathspec.ts';

const never = () => false;

test('a path becomes a pathspec in which nothing is magic [S0-51]', () => {
  for (const [path, wanted] of [
    ['a', ':(top,literal)a'],
    ['./a//b/', ':(top,literal)a/b'],
    ['a/../b', ':(top,literal)b'],
    ['.', ':(top)'],
    [':(exclude)x', ':(top,literal):(exclude)x'],
    ['--output=x', ':(top,literal)--output=x'],
    ['[x]*', ':(top,literal)[x]*'],
  ] as const) {
    assert.equal(literalPathspec(path), wanted, path);
  }
});

test('a glob is one unless a file has that name; braces are spelled out [S0-51]', () => {
  assert.deepEqual(globPathspecs(['src/**', 'a'], never), [':(top,glob)src/**', ':(top,literal)a']);
  assert.deepEqual(
    globPathspecs(['[x]'], (path) => path === '[x]'),
    [':(top,literal)[x]'],
  );
  assert.deepEqual(globPathspecs(['*.{ts,js}'], never), [':(top,glob)*.ts', ':(top,glob)*.js']);
});

test('paths that leave the root, hold NUL or are too many are refused [S0-51]', () => {
  for (const attempt of [
    () => cleanPath('..'),
    () => cleanPath('a/../../b'),
    () => cleanPath('a\0b'),
    () => globPathspecs(['{..,a}/../../x'], never),
    () => globPathspecs(['{a'], never),
    () =>
      globPathspecs(
        Array.from({ length: 100 }, () => 'x'.repeat(4000)),
        never,
      ),
    () =>
      globPathspecs(
        Array.from({ length: 1001 }, () => 'a'),
        never,
      ),
  ]) {
    assert.throws(attempt, (thrown) => isToolError(thrown) && thrown.code === 'E_GIT');
  }
  assert.equal(
    globPathspecs(
      Array.from({ length: 1000 }, () => 'a'),
      never,
    ).length,
    1000,
  );
});
