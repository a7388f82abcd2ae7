import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { globCovers, intersectGlobs } from './glob-covers.ts';
import { compileGlob, compileGlobs } from './match-glob.ts';

const piece = fc.constantFrom('a', 'b', '*', '?', '[ab]', '[!a]', '{a,b}');
const segment = fc.oneof(
  fc.array(piece, { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join('')),
  fc.constant('**'),
  fc.constant('..'),
);
const glob = fc.array(segment, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
const text = fc
  .array(fc.stringMatching(/^([abc]{1,3}|\.\.?)$/), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join('/'));

describe('globCovers', () => {
  test('is never wrong when it says yes [S2-24]', () => {
    fc.assert(
      fc.property(glob, glob, text, (outer, inner, value) => {
        fc.pre(globCovers(outer, inner) && compileGlob(inner)(value));
        assert.equal(compileGlob(outer)(value), true);
      }),
      { numRuns: 500, maxSkipsPerRun: 10_000 },
    );
  });

  test('proves the usual cases [S2-24]', () => {
    const rows: [string, string, boolean][] = [
      ['*', 'file_read', true],
      ['*', 'a_*', true],
      ['a_*', 'a_b*', true],
      ['a_b*', 'a_*', false],
      ['*_read', 'file_*_read', true],
      ['*_read', 'file_*', false],
      ['src/**', 'src/lib/*.ts', true],
      ['src/**', 'src/../etc', false],
      ['src/*', 'src/**', false],
      ['{a,b}', 'a', true],
      ['{a,b}*', '{a1,b2}', true],
      ['{a,b}', '{a,c}', false],
      ['?at', '[cb]at', true],
      ['[a-c]', '[ab]', false],
    ];
    for (const [outer, inner, expected] of rows) {
      assert.equal(globCovers(outer, inner), expected, `${outer} covers ${inner}`);
    }
  });
});

describe('intersectGlobs', () => {
  test('keeps only what both lists allow [S2-24]', () => {
    fc.assert(
      fc.property(fc.array(glob, { maxLength: 3 }), fc.array(glob, { maxLength: 3 }), text, (first, second, value) => {
        if (!compileGlobs(intersectGlobs(first, second))(value)) return;
        assert.equal(compileGlobs(first)(value) && compileGlobs(second)(value), true);
      }),
      { numRuns: 2000 },
    );
    assert.deepEqual(intersectGlobs(['a', 'b_*'], ['*', 'b_c']), ['b_c', 'a', 'b_*']);
  });

  test('gives an empty list for disjoint ones [S2-24]', () => {
    assert.deepEqual(intersectGlobs(['a'], ['b']), []);
  });
});
