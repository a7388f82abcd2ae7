import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchesSlowly } from './slow-glob.ts';

test('the slow matcher reads globs by their words', () => {
  const rows: readonly (readonly [glob: string, yes: readonly string[], no: readonly string[]])[] = [
    ['*', ['a', '.a'], ['a/b', '', '.', '..']],
    ['src/**', ['src', 'src/a/b'], ['srcs', 'src/../a']],
    ['{a,{b,c}d}/?', ['a/x', 'bd/x', 'cd/x'], ['b/x', 'a/xy']],
    ['[!a-c\\]]*', ['d', 'dx'], ['a', ']', '']],
    ['./\\*', ['*'], ['a', './*']],
  ];
  for (const [glob, yes, no] of rows) {
    for (const text of yes) assert.equal(matchesSlowly(glob, text), true, `${glob} on ${text}`);
    for (const text of no) assert.equal(matchesSlowly(glob, text), false, `${glob} on ${text}`);
  }
});
