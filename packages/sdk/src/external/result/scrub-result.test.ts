import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonValue } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { KnownValues } from '../../redaction/known-values.ts';
import { scrubResult } from './scrub-result.ts';

const VALUE = 'top"secret\\value';
const secrets = new KnownValues([VALUE, 'abc', '-----BEGIN\nline-of-a-private-key\nend']);

describe('secrets a tool was handed', () => {
  test('S4-44 are hidden in text, whole and line by line, unless they are too short to be secrets', () => {
    assert.equal(secrets.text(`a ${VALUE} b abc`), 'a [redacted] b abc');
    assert.equal(secrets.text('x line-of-a-private-key y'), 'x [redacted] y');
    const both = new KnownValues(['secret', 'secret-longer']);
    assert.equal(both.text('secret-longer secret'), '[redacted] [redacted]');
  });

  test('S4-44 are hidden in values and names of JSON, and nothing else is touched', () => {
    const value = { a: [`x${VALUE}`], [VALUE]: 1, b: { c: null } };
    assert.deepEqual(secrets.json(value), { a: ['x[redacted]'], '[redacted]': 1, b: { c: null } });
    const clean = { a: [1, 'x'], b: { c: null } };
    assert.equal(secrets.json(clean), clean);
  });

  test('S4-44 are taken out of a result however they are escaped', () => {
    const escaped = [...VALUE].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
    for (const text of [JSON.stringify({ a: VALUE }), `{"a":"${escaped}"}`]) {
      assert.deepEqual(JSON.parse(scrubResult(Buffer.from(text), secrets) ?? ''), { a: '[redacted]' });
    }
    assert.equal(scrubResult(Buffer.from(`{"a":${JSON.stringify(VALUE)}`), secrets), '{"a":"[redacted]"');
    assert.equal(scrubResult(Buffer.from('{"a":1}'), secrets), undefined);
  });

  test('S4-44 are in no JSON that comes back', () => {
    const plain = new KnownValues(['hunter2']);
    const text = fc.constantFrom('hunter2', 'xhunter2y', 'hunter', 'hunhunter2ter2');
    const arbitrary = fc.object({ key: text, values: [text, fc.integer(), fc.constant(null)] });
    fc.assert(
      fc.property(arbitrary, (value) => {
        assert.equal(JSON.stringify(plain.json(value as JsonValue)).includes('hunter2'), false);
      }),
    );
  });
});
