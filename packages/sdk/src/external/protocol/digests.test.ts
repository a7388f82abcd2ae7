import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { digest } from '../../platform/digest.ts';
import { checkDigest, digestMismatch, formatTimestamp, parseTimestamp, sameDigest } from './digests.ts';

interface Vectors {
  readonly digests: {
    readonly valid: readonly string[];
    readonly invalid: readonly string[];
    readonly ofText: readonly (readonly [text: string, digest: string])[];
  };
}
const { digests }: Vectors = JSON.parse(
  readFileSync(new URL('../fixtures/protocol-vectors.json', import.meta.url), 'utf8'),
);
const [first = '', second = ''] = digests.valid;

test('only sha256 with 64 lower-case hex digits is a digest [S4-5]', () => {
  for (const text of digests.valid) assert.equal(checkDigest(text, 'digest'), text);
  for (const text of digests.invalid) {
    assert.throws(
      () => checkDigest(text, 'outputs[0].digest'),
      (thrown) => isToolError(thrown) && thrown.code === 'E_VALIDATION_FAIL' && thrown.path === 'outputs[0].digest',
      text,
    );
  }
});

test('known texts have known digests [S4-5]', () => {
  for (const [text, expected] of digests.ofText) assert.equal(digest(text), expected);
});

test('two digests are the same only when both are digests and equal [S4-5]', () => {
  assert.equal(sameDigest(first, first), true);
  assert.equal(sameDigest(first, second), false);
  const near = first.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  assert.equal(sameDigest(first, near), false);
  assert.equal(sameDigest(near, near), true);
  assert.equal(sameDigest('', ''), false);
  assert.equal(sameDigest(first, ''), false);
  for (const text of digests.invalid) assert.equal(sameDigest(text, text), false, text);
});

test('a mismatch names the expected digest [S4-5]', () => {
  const error = digestMismatch(first);
  assert.ok(error.message.includes(first));
  assert.equal(error.details['exit_code'], 11);
  assert.equal(error.code, 'E_POLICY');
});

interface VectorsTimestamps {
  readonly timestamps: {
    readonly valid: readonly (readonly [text: string, ms: number])[];
    readonly formatted: readonly (readonly [ms: number, text: string])[];
    readonly invalid: readonly string[];
  };
}
const { timestamps }: VectorsTimestamps = JSON.parse(
  readFileSync(new URL('../fixtures/protocol-vectors.json', import.meta.url), 'utf8'),
);

test('a timestamp is read and written back unchanged [S4-4]', () => {
  for (const [text, ms] of timestamps.valid) {
    assert.equal(parseTimestamp(text), ms);
    assert.equal(formatTimestamp(ms), text);
  }
});

test('formatting cuts off the part of a second [S4-4]', () => {
  for (const [ms, text] of timestamps.formatted) assert.equal(formatTimestamp(ms), text);
});

test('offset, fraction, small letters, impossible dates and other lengths are refused [S4-4]', () => {
  for (const text of timestamps.invalid) {
    assert.throws(
      () => parseTimestamp(text),
      (thrown) => isToolError(thrown) && thrown.code === 'E_VALIDATION_FAIL',
      text,
    );
  }
});

test('every second of four-digit years survives the round trip in twenty characters [S4-4]', () => {
  const seconds = fc.integer({ min: Date.UTC(0, 0, 1) / 1000, max: 253_402_300_799 });
  fc.assert(
    fc.property(seconds, fc.integer({ min: 0, max: 999 }), (second, rest) => {
      const text = formatTimestamp(second * 1000 + rest);
      assert.equal(text.length, 20);
      assert.equal(parseTimestamp(text), second * 1000);
    }),
  );
});

test('a time that four digits of a year cannot hold is a mistake of the caller [S4-4]', () => {
  for (const ms of [Number.NaN, Number.POSITIVE_INFINITY, Date.UTC(10_000, 0, 1)]) {
    assert.throws(() => formatTimestamp(ms), TypeError);
  }
  assert.equal(formatTimestamp(Date.UTC(10_000, 0, 1) - 1), '9999-12-31T23:59:59Z');
});
