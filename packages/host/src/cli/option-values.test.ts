import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sinceTime, wholeNumber } from './option-values.ts';

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

describe('sinceTime', () => {
  const since = sinceTime('--since', () => Date.parse('2026-11-18T12:00:00Z'));

  test('takes how long ago, and dates', () => {
    assert.equal(since('30m'), Date.parse('2026-11-18T11:30:00Z'));
    assert.equal(since('12h'), Date.parse('2026-11-18T00:00:00Z'));
    assert.equal(since('7d'), Date.parse('2026-11-11T12:00:00Z'));
    assert.equal(since('999999d'), 0);
    assert.equal(since('2026-11-01'), Date.parse('2026-11-01'));
    assert.equal(since('2026-11-01T10:00:00Z'), Date.parse('2026-11-01T10:00:00Z'));
  });

  for (const text of ['', '7', 'd', '7w', '-1d', 'yesterday', '2026-13-01', '11/18/2026']) {
    test(`refuses ${JSON.stringify(text)}`, () => {
      assert.throws(() => since(text), { name: 'UsageError', message: /^--since takes a time such as/ });
    });
  }
});
