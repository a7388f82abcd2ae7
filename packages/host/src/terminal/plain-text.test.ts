import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { plainJson, plainLines, plainText } from './plain-text.ts';

describe('plainText', () => {
  test('shows what would steer a terminal, and leaves the rest alone', () => {
    assert.equal(plainText('a\u001b[31mb\r\nc\u009b2Jd\u202ee'), 'a\\u001b[31mb\\u000d\\u000ac\\u009b2Jd\\u202ee');
    assert.equal(plainText('grüße 😀 | {}'), 'grüße 😀 | {}');
  });
});

describe('plainLines', () => {
  test('keeps lines and tabs, and shows everything else that would steer', () => {
    assert.equal(plainLines('a\tb\nc\r\u001b[31m\u202e'), 'a\tb\nc\\u000d\\u001b[31m\\u202e');
  });
});

describe('plainJson', () => {
  test('keeps the meaning of every JSON text and leaves nothing that steers', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string({ unit: 'binary' }), (value, text) => {
        const whole = { value, text, steer: '\u009b\u007f\u2028\u202e' };
        const plain = plainJson(JSON.stringify(whole, null, 2));
        assert.deepEqual(JSON.parse(plain), JSON.parse(JSON.stringify(whole)));
        assert.doesNotMatch(plain, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]/);
      }),
    );
  });
});
