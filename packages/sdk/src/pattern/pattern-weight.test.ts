import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { MAX_PATTERN_WEIGHT, patternsTooLarge, patternWeight } from './pattern-weight.ts';

describe('patternWeight', () => {
  const rows: [string, number][] = [
    ['', 0],
    ['abc', 3],
    ['a{10}', 10],
    ['a{2,10}', 10],
    ['a{3,}', 3],
    ['(ab){10}', 30],
    ['((a{10}){10}){10}', 1110],
    ['\\pL{100}', 800],
    ['\\p{Greek}{100}', 800],
    ['[\\pL\\pN]{10}', 200],
    ['[a{9}]', 4],
    ['a*{3}', 3],
    ['\\{10}', 5],
    ['x{', 2],
    ['a{20}(?i){20}', 400],
  ];
  for (const [source, weight] of rows)
    test(`of ${source || 'nothing'} is ${weight}`, () => assert.equal(patternWeight(source), weight));

  test('bounds the compiled program of every pattern the engine accepts', () => {
    const words = [
      'a',
      '\\pL',
      '\\p{Greek}',
      '[ab]',
      '(',
      ')',
      '|',
      '*',
      '?',
      '{3}',
      '{0,9}',
      '{20}',
      '{2,}',
      '\\Q{\\E',
      '^',
      '(?i)',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words), { maxLength: 12 }), (pieces) => {
        const source = pieces.join('');
        if (patternWeight(source) > MAX_PATTERN_WEIGHT) return;
        let size = 0;
        try {
          size = RE2JS.compile(source).programSize();
        } catch {
          return; // the engine refuses it: nothing to bound
        }
        assert.ok(size <= 4 * patternWeight(source) + 8, `${source}: ${size} for ${patternWeight(source)}`);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('patternsTooLarge', () => {
  test('refuses too many patterns and patterns too large together [S0-19]', () => {
    assert.match(
      patternsTooLarge({ shell_allow: Array.from({ length: 257 }, () => '^a') })?.message ?? '',
      /Too many patterns: 257/,
    );
    const heavy = { pattern: '^\\pL{250}' };
    assert.match(
      patternsTooLarge({ shell_allow: Array.from({ length: 9 }, () => heavy) })?.message ?? '',
      /too large together/,
    );
  });

  test('accepts what lies inside the limits and passes over what has another shape [S0-19]', () => {
    assert.equal(patternsTooLarge({ shell_allow: Array.from({ length: 256 }, () => '^npm (run|test)') }), undefined);
    for (const root of [null, [], { shell_allow: 'x' }, { shell_allow: [1, null, {}], branch_pattern: 2 }]) {
      assert.equal(patternsTooLarge(root), undefined);
    }
  });
});
