import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isToolError, type JsonValue } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { parseResult } from './parse-result.ts';

interface Vectors {
  readonly duplicateKeys: { readonly refused: readonly string[]; readonly accepted: readonly string[] };
}
const { duplicateKeys }: Vectors = JSON.parse(
  readFileSync(new URL('../fixtures/protocol-vectors.json', import.meta.url), 'utf8'),
);

function reasonOf(bytes: Uint8Array | string, maxBytes?: number): JsonValue | undefined {
  try {
    parseResult(typeof bytes === 'string' ? Buffer.from(bytes) : bytes, maxBytes);
    return undefined;
  } catch (thrown) {
    assert.ok(isToolError(thrown) && thrown.code === 'E_VALIDATION_FAIL');
    return thrown.details['reason'] ?? null;
  }
}

test('S4-20 a key that stands twice is refused at any depth, after unescaping', () => {
  for (const text of duplicateKeys.refused) assert.equal(reasonOf(text), 'duplicate_key', text);
  for (const text of duplicateKeys.accepted) assert.deepEqual(parseResult(Buffer.from(text)), JSON.parse(text));
});

test('S4-20 any key is refused when an escaped spelling of it stands beside it (deep)', () => {
  const key = fc.string({ minLength: 1, unit: 'binary' }).filter((text) => text !== '__proto__' && text.isWellFormed());
  fc.assert(
    fc.property(key, (name) => {
      const escaped = [...Array(name.length).keys()]
        .map((at) => `\\u${name.charCodeAt(at).toString(16).padStart(4, '0')}`)
        .join('');
      assert.equal(reasonOf(`{"deep":[{${JSON.stringify(name)}:1,"${escaped}":2}]}`), 'duplicate_key');
      assert.equal(reasonOf(`{"deep":[{"${escaped}":2}]}`), undefined);
    }),
  );
});

test('S4-20 trailing data and broken JSON are refused', () => {
  for (const text of ['{} {}', '{}x', '{}\0', '', '{', '{"a":}', "{'a':1}", '\ufeff{}']) {
    assert.equal(reasonOf(text), 'syntax', text);
  }
  assert.deepEqual(parseResult(Buffer.from(' {} \n')), {});
});

test('S4-20 a text over the limit is refused and one at the limit is read', () => {
  const text = JSON.stringify({ text: 'x'.repeat(100) });
  assert.equal(reasonOf(text, text.length - 1), 'too_large');
  assert.equal(reasonOf(text, text.length), undefined);
  const full = Buffer.alloc(10 * 1024 * 1024 + 1, ' ');
  full.write('{}');
  assert.equal(reasonOf(full), 'too_large');
  assert.equal(reasonOf(full.subarray(0, -1)), undefined);
  assert.equal(reasonOf(Buffer.alloc(11, 0xff), 10), 'too_large', 'before it is decoded');
  assert.equal(reasonOf(Buffer.alloc(10, 0xff), 10), 'invalid_unicode');
});

test('S4-20 what is no UTF-8 or half a character is refused', () => {
  for (const bytes of [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), '{"a":"\\ud800"}', '{"\\udc00":1}']) {
    assert.equal(reasonOf(bytes), 'invalid_unicode');
  }
  assert.deepEqual(parseResult(Buffer.from('{"a":"\\ud83d\\ude00","b":"\\\\ud800"}')), { a: '😀', b: '\\ud800' });
});

test('S4-20 only an object is a result', () => {
  for (const text of ['[]', '1', '"x"', 'null', 'true']) assert.equal(reasonOf(text), 'not_an_object', text);
});

test('S4-20 a key that would change prototypes is refused, plain or escaped', () => {
  for (const text of ['{"__proto__":{"status":"success"}}', '{"a":{"\\u005f_proto__":1}}']) {
    assert.equal(reasonOf(text), 'forbidden_key');
  }
  assert.deepEqual(parseResult(Buffer.from('{"constructor":1}')), JSON.parse('{"constructor":1}'));
});

test('S4-20 unknown fields are kept as they are', () => {
  const text = '{"future":{"list":[1,2.5,null,true,"x"]},"status":"success"}';
  assert.deepEqual(parseResult(Buffer.from(text)), JSON.parse(text));
});
