import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { digest } from '../../platform/digest.ts';
import { checkDigest, digestMismatch, sameDigest } from './digests.ts';

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
