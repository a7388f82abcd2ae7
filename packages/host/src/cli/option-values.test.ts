import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { wholeNumber } from './option-values.ts';

describe('wholeNumber', () => {
  for (const text of ['', '-1', '1.5', '1e3', '0x10', ' 1', 'abc', '99999999999999999999', 'Infinity']) {
    test(`refuses ${JSON.stringify(text)} and names the option`, () => {
      assert.throws(() => wholeNumber('--limit', 0)(text), {
        name: 'UsageError',
        message: /^--limit takes .* at least 0: /,
      });
    });
  }

  test('takes digits from the smallest allowed number on', () => {
    assert.deepEqual(
      ['0', '1', '007', '9007199254740991'].map((text) => wholeNumber('--limit', 0)(text)),
      [0, 1, 7, 9007199254740991],
    );
    assert.throws(() => wholeNumber('--timeout', 1)('0'), {
      message: '--timeout takes a whole number of at least 1: 0',
    });
    assert.equal(wholeNumber('--timeout', 1)('1'), 1);
  });
});
