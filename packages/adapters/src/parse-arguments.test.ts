import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseArguments } from './parse-arguments.ts';

test('reads JSON, and nothing as no arguments', () => {
  assert.deepEqual(parseArguments('{"path":"a"}'), { ok: true, args: { path: 'a' } });
  assert.deepEqual(parseArguments(' '), { ok: true, args: {} });
});

test('what is no JSON, or means two things, is refused in words', () => {
  for (const text of ['{"path":', '{"path":"a","path":"b"}', '{"__proto__":{}}', 'path=a']) {
    const parsed = parseArguments(text);
    assert.ok(!parsed.ok);
    assert.equal(parsed.error.code, 'E_VALIDATION_FAIL');
    assert.match(parsed.error.message, /^Arguments cannot be read: /);
  }
});
