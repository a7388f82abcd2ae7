import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPlainJson, readJsonFacts } from './reference-json.ts';

test('the slow reading tells plain JSON from what readers understand differently', () => {
  for (const text of [
    '{}',
    '[1,"a",{"b":{"a":1}}]',
    '{"a":"__proto__","b":"{\\"a\\":1,\\"a\\":2}"}',
    '"\\ud800"',
    '1e308',
  ]) {
    assert.ok(isPlainJson(readJsonFacts(text), 3), text);
  }
  for (const text of ['', '{', '{"a":1,"\\u0061":2}', '[{"__proto__":1}]', '1e400', '[[[[]]]]', '{"a":1} x']) {
    assert.ok(!isPlainJson(readJsonFacts(text), 3), text);
  }
  assert.equal(readJsonFacts('["\\ud800"]')?.isWellFormed, false);
});
