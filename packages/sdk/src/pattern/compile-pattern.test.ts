import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import {
  allowlistPatternProblem,
  compileAllowlistPattern,
  compilePattern,
  MAX_INPUT_BYTES,
  MAX_PATTERN_BYTES,
  patternProblem,
} from './compile-pattern.ts';

describe('allowlist patterns', () => {
  const anchored = [
    '^cargo(\\s|$)',
    '^npm|^yarn',
    '(?i)^make',
    '^[|]x',
    '^a\\|b',
    '^(a|b)',
    '^[]|]',
    '^\\Qa|b\\E',
    '^[[:alpha:]|]+',
  ];
  for (const source of anchored) {
    test(`accepts ${source} [S0-19]`, () => assert.equal(allowlistPatternProblem(source), undefined));
  }

  const refused: [string, string][] = [
    ['cargo', 'write ^cargo)'],
    ['^npm|yarn', 'write ^(?:npm|yarn))'],
    ['(^a|^b)', 'write ^(^a|^b))'],
    ['^a|', 'write ^(?:a|))'],
    ['^*rm', 'write ^rm)'],
    ['(?i)make', 'write (?i)^make)'],
    ['\\^cargo', 'not anchored'],
    ['[^]]x', 'not anchored'],
  ];
  for (const [source, expected] of refused) {
    test(`refuses ${source} and shows the nearest allowed form [S0-19]`, () => {
      const problem = allowlistPatternProblem(source);
      assert.ok(problem?.includes(expected), problem);
    });
  }

  test('match from the first character on and only there [S0-19]', () => {
    const pattern = compileAllowlistPattern('^cargo(\\s|$)');
    assert.equal(pattern.source, '^cargo(\\s|$)');
    assert.equal(pattern.test('cargo test'), true);
    assert.equal(pattern.test('cargo'), true);
    assert.equal(pattern.test('cargo-evil'), false);
    assert.equal(pattern.test('sh -c cargo'), false);
    assert.equal(pattern.test('x\ncargo'), false);
  });

  test('every accepted pattern finds nothing it would not find at the first character [S0-19]', () => {
    const words = [
      '^',
      '^',
      'a',
      'b',
      '|',
      '(',
      ')',
      '*',
      '?',
      '[',
      ']',
      '\\',
      '\\Q',
      '\\E',
      '(?i)',
      '$',
      '[^a]',
      '{0,1}',
    ];
    const source = fc.array(fc.constantFrom(...words), { maxLength: 8 }).map((pieces) => `^${pieces.join('')}`);
    const line = fc.stringMatching(/^[ab|^xQE]{0,6}$/);
    let judged = 0;
    fc.assert(
      fc.property(source, line, (pattern, text) => {
        if (allowlistPatternProblem(pattern) !== undefined) return;
        judged++;
        assert.equal(compilePattern(pattern).test(text), compileAllowlistPattern(pattern).test(text));
      }),
      { numRuns: 2000 },
    );
    assert.ok(judged > 200, `only ${judged} patterns were accepted`);
  });
});

describe('patterns', () => {
  const bad: [string, RegExp][] = [
    ['', /empty/],
    ['(', /Bad pattern: \( \(missing closing \)/],
    ['a(?=b)', /Bad pattern/],
    ['((a{100}){100}){100}', /repeats too much/],
    ['a{1001}', /Bad pattern/],
    ['\\pL{1000}', /repeats too much/],
    ['a'.repeat(MAX_PATTERN_BYTES + 1), /longer than 1024 bytes/],
    ['^npm\b', /control character.*single quotes/],
  ];
  for (const [source, expected] of bad) {
    test(`refuses ${JSON.stringify(source.slice(0, 20))} [S0-19]`, () => {
      assert.match(patternProblem(source) ?? '', expected);
      assert.throws(
        () => compilePattern(source),
        (thrown) => isToolError(thrown) && thrown.code === 'E_VALIDATION_FAIL',
      );
    });
  }

  test('accepts the longest pattern', () => assert.equal(patternProblem('a'.repeat(MAX_PATTERN_BYTES)), undefined));

  test('matches anywhere unless it is an allowlist', () => {
    assert.equal(compilePattern('feat/').test('my/feat/x'), true);
    assert.equal(compilePattern('^feat/').test('my/feat/x'), false);
  });

  test('answers no for a text over the limit and yes just below it', () => {
    const pattern = compilePattern('^a');
    assert.equal(pattern.test('a'.repeat(MAX_INPUT_BYTES)), true);
    assert.equal(pattern.test('a'.repeat(MAX_INPUT_BYTES + 1)), false);
    assert.equal(pattern.test(`a${'é'.repeat(MAX_INPUT_BYTES / 2)}`), false);
  });

  test('throws nothing but a ToolError for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (source) => {
        try {
          compileAllowlistPattern(source).test('cargo test');
        } catch (thrown) {
          assert.ok(isToolError(thrown));
        }
      }),
    );
  });
});
