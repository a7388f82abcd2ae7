import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { canonicalJson } from '../platform/digest.ts';
import { createArgsHasher } from './args-hash.ts';
import { purposeKey } from './keyed-digest.ts';

const KEY = Buffer.alloc(32, 5);

test('S0-74 is the keyed digest of tool and arguments in canonical form', () => {
  const args = { path: 'a.txt', content: 'ä', nested: { b: 2, a: 1 } };
  const digest = createHmac('sha256', purposeKey(KEY, 'tool-runtime args v1')).update(
    canonicalJson(['file_write', args]),
  );
  assert.equal(createArgsHasher(KEY)('file_write', args), `hmac-sha256:${digest.digest('hex')}`);
});

test('S0-74 S1-43 tells arguments, tools and keys apart and ignores the order of names', () => {
  const hash = createArgsHasher(KEY);
  assert.equal(hash('t', { a: 1, b: 2 }), hash('t', { b: 2, a: 1 }));
  const different = [
    hash('t', { a: 1 }),
    hash('t', { a: '1' }),
    hash('u', { a: 1 }),
    createArgsHasher(Buffer.alloc(32, 6))('t', { a: 1 }),
  ];
  assert.equal(new Set(different).size, 4);
});
