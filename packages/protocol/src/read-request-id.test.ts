import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readRequestId } from './read-request-id.ts';

test('readRequestId finds the one outer request_id, even where the rest is not acceptable', () => {
  const texts = [
    '{"request_id":"r"}',
    ' { "a":1, "request_id" : "r" , "b":{"request_id":"inner"}}\n',
    '{"args":{"a":1,"a":2},"request_id":"r"}',
    '{"args":NaN,"request_id":"r",}',
    '{"request_\\u0069d":"\\u0072","x":"request_id"}',
    `{"request_id":"r","deep":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
  ];
  for (const text of texts) assert.equal(readRequestId(text), 'r', text.slice(0, 60));
});

test('readRequestId gives up on any doubt', () => {
  const texts = [
    '',
    'null',
    '[{"request_id":"r"}]',
    '{"args":{"request_id":"r"}}',
    '{"request_id":"r"',
    '{"request_id":"r"}{"request_id":"s"}',
    '{"request_id":"r"} x',
    '{"request_id":"r","request_id":"s"}',
    '{"request_id":"r","request_\\u0069d":"r"}',
    '{"request_id":7}',
    '{"request_id":""}',
    '{"request_id":"a\\u0000"}',
    '{"request_id":"\\x"}',
    '{"request_id"',
    '{"request_id":"r","open',
  ];
  for (const text of texts) assert.equal(readRequestId(text), null, text);
});

test('readRequestId agrees with JSON.parse on whole messages and never throws on others', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), fc.nat(), (rest, tail, cut) => {
      const text = JSON.stringify({ ...rest, request_id: 'r1' });
      assert.equal(readRequestId(text), 'r1');
      readRequestId(text.slice(0, cut % text.length) + tail);
    }),
  );
});
