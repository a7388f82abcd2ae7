import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { plainJson, plainText } from './terminal.ts';

describe('plainText', () => {
  test('escapes what controls a terminal, and leaves the rest alone', () => {
    assert.equal(plainText('a\u001b[31mb\r\nc\u009b2Jd\u202ee'), 'a\\u{1b}[31mb\\r\\nc\\u{9b}2Jd\\u{202e}e');
    assert.equal(plainText('grüße 😀 | {}'), 'grüße 😀 | {}');
    assert.equal(plainText('x'.repeat(1000)).length, 1000);
  });
});

describe('plainJson', () => {
  test('keeps the meaning of every JSON text and leaves no control characters', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string({ unit: 'binary' }), (value, text) => {
        const whole = { value, text, control: '\u009b\u007f\u2028\u202e\u{e0001}' };
        const plain = plainJson(JSON.stringify(whole, null, 2));
        assert.deepEqual(JSON.parse(plain), JSON.parse(JSON.stringify(whole)));
        assert.doesNotMatch(plain, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\p{Cf}]/u);
      }),
    );
  });
});
