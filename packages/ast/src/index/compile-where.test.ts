import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { wildPattern } from './compile-where.ts';

test('matches stars and question marks and takes everything else as it stands [S0-53]', () => {
  const cases: [string, string, boolean][] = [
    ['abc', 'abc', true],
    ['abc', 'abcd', false],
    ['a*', 'abc', true],
    ['*c', 'abc', true],
    ['*b*', 'abc', true],
    ['*', '', true],
    ['**', 'x', true],
    ['?', 'x', true],
    ['?', '', false],
    ['?', '🎈', true],
    ['a?c', 'abc', true],
    ['a*c*e', 'abcde', true],
    ['a*c*e', 'abcd', false],
    ['a.c', 'abc', false],
    ['[ab]', 'a', false],
    ['[ab]', '[ab]', true],
  ];
  for (const [pattern, text, expected] of cases) assert.equal(wildPattern(pattern).test(text), expected, pattern);
});

test('agrees with a regular expression on any pattern and name [S0-53]', () => {
  const letters = (extra: string) =>
    fc.array(fc.constantFrom(...`ab.${extra}`), { maxLength: 8 }).map((all) => all.join(''));
  fc.assert(
    fc.property(letters('*?'), letters(''), (pattern, text) => {
      const source = pattern.replace(/[*?.]/g, (sign) => ({ '*': '[^]*', '?': '[^]' })[sign] ?? `\\${sign}`);
      assert.equal(wildPattern(pattern).test(text), new RegExp(`^${source}$`).test(text));
    }),
    { numRuns: 500 },
  );
});

test('stays fast on hostile patterns [S0-53]', () => {
  assert.equal(wildPattern(`${'*a'.repeat(200)}?b`).test('a'.repeat(2_000)), false);
});
