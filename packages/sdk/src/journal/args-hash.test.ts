import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import type { JsonValue } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { canonicalJson } from '../platform/digest.ts';
import { canonicalArgs, createArgsHasher } from './args-hash.ts';
import { purposeKey } from './keyed-digest.ts';

const KEY = Buffer.alloc(32, 5);

test('is the keyed digest of tool and arguments in canonical form [S0-74]', () => {
  const args = { path: 'a.txt', content: 'ä', nested: { b: 2, a: 1 } };
  const digest = createHmac('sha256', purposeKey(KEY, 'tool-runtime args v1')).update(
    canonicalJson(['file_write', args]),
  );
  assert.equal(createArgsHasher(KEY)('file_write', args), `hmac-sha256:${digest.digest('hex')}`);
});

test('tells arguments, tools and keys apart and ignores the order of names [S0-74 S1-43]', () => {
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

test('gives the canonical text for any JSON value [S0-74]', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const json = value as JsonValue;
      assert.equal(canonicalArgs(json), canonicalJson(json));
    }),
  );
});

test('does not depend on the order of keys and drops what is undefined [S0-74]', () => {
  assert.equal(canonicalArgs({ b: 1, a: { d: [1, 'x'], c: null } }), '{"a":{"c":null,"d":[1,"x"]},"b":1}');
  const optional = { a: 1, b: undefined } as unknown as JsonValue;
  assert.equal(canonicalArgs(optional), canonicalJson(optional));
  const hidden = JSON.parse('{"__proto__":1,"10":2,"9":3}') as JsonValue;
  assert.equal(canonicalArgs(hidden), canonicalJson(hidden));
});

test('refuses what JSON cannot hold, as the library does', () => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, '\ud800', { '\udc00': 1 }, undefined, 1n, () => 1]) {
    assert.throws(() => canonicalArgs(value as unknown as JsonValue), TypeError);
    assert.throws(() => canonicalJson(value as unknown as JsonValue));
  }
});
