import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { canonicalJson, purposeKey } from '../platform/digest.ts';
import { createRedactor } from '../redaction/redactor.ts';
import { canonicalArgs, createArgsHasher, createArgsSummarizer } from './recorded-args.ts';

const summarize = createArgsSummarizer(createRedactor({ secrets: ['hunter22'] }));

test('shows short values, sizes of private ones, and shapes of the rest [S0-13]', () => {
  const args = { path: 'a\nb.txt', content: 'äx', count: 3, force: true, none: null, list: [1, 2], map: { a: 1 } };
  assert.equal(
    summarize(args, ['content']),
    'path="a\\nb.txt" content=<3 bytes> count=3 force=true none=null list=[2 items] map={1 keys}',
  );
});

test('redacts values, names and members with a telling name [S0-13]', () => {
  assert.equal(
    summarize({ command: 'login hunter22', 'odd hunter22': 1, token: 'abc', url: 'https://u:p@h/' }, []),
    'command="login [redacted]" "odd [redacted]"=1 token=[redacted] url="https://u:[redacted]@h/"',
  );
});

test('a secret across the cut leaves no beginning behind [S0-13]', () => {
  const token = `ghp_${'a'.repeat(36)}`;
  for (let at = 60; at < 130; at++) {
    assert.ok(!summarize({ text: 'x'.repeat(at) + token }, []).includes('ghp_'), String(at));
  }
  for (let at = 2000; at < 2060; at++) {
    const key = `-----BEGIN PRIVATE KEY-----${'k'.repeat(at - 60)}-----END PRIVATE KEY-----`;
    assert.ok(!summarize({ text: `${key} ${token}${'y'.repeat(3000)}` }, []).includes('ghp_'), String(at));
  }
});

test('is one bounded line whatever the arguments', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.string()), (args, privateArgs) => {
      const line = summarize(args as JsonObject, privateArgs);
      assert.ok(line.length <= 512 && !/[\n\r\u0000]/.test(line), line);
    }),
  );
  const long = Object.fromEntries(Array.from({ length: 90 }, (_, at) => [`argument_${at}`, 'v'.repeat(500)]));
  assert.equal(summarize(long, []).length, 512);
  assert.match(summarize({ text: 'v'.repeat(500) }, []), /^text="v{119}…"$/);
});

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
