import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { createKeyedDigest, purposeKey } from './digest.ts';

test('equals HMAC-SHA256 for any key and any well-formed text', () => {
  const key = fc.uint8Array({ minLength: 32, maxLength: 48 });
  const text = fc.string({ unit: 'grapheme', maxLength: 300 });
  fc.assert(
    fc.property(key, fc.string(), text, (masterKey, purpose, value) => {
      const expected = createHmac('sha256', purposeKey(masterKey, purpose)).update(value).digest('hex');
      assert.equal(createKeyedDigest(masterKey, purpose)(value), expected);
    }),
  );
});

test('two purposes and two keys give different digests', () => {
  const digests = [
    createKeyedDigest(Buffer.alloc(32, 1), 'a')('text'),
    createKeyedDigest(Buffer.alloc(32, 1), 'b')('text'),
    createKeyedDigest(Buffer.alloc(32, 2), 'a')('text'),
  ];
  assert.equal(new Set(digests).size, 3);
});

test('a key that is too short is a mistake of the program', () => {
  assert.throws(() => createKeyedDigest(Buffer.alloc(31), 'a'), TypeError);
});
