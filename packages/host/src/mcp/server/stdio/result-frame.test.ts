import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue, ToolResponse } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { serverInfo } from '../server-definition.ts';
import { toToolResult } from '../tool-result.ts';
import { ResultFrames } from './result-frame.ts';

function response(data: JsonValue): ToolResponse {
  return {
    type: 'ToolResponse',
    request_id: 'r',
    session_id: 's',
    ok: true,
    data,
    errors: [],
    warnings: [],
  } as unknown as ToolResponse;
}

const frames = {
  plain: new ResultFrames({ isModern: false, serverVersion: '1' }),
  modern: new ResultFrames({ isModern: true, serverVersion: '1' }),
};
const stamps = { resultType: 'complete', _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo('1') } };

test('ResultFrames write what stringify would of the same result', () => {
  const handle = fc.constant(`artifact:${'a'.repeat(32)}`);
  const data = fc.oneof(fc.jsonValue(), fc.dictionary(fc.string(), fc.oneof(handle, fc.jsonValue())));
  fc.assert(
    fc.property(data, fc.oneof(fc.string(), fc.integer()), (some, id) => {
      const value = JSON.parse(JSON.stringify(some)) as JsonValue;
      const result = JSON.parse(JSON.stringify(toToolResult(response(value))));
      assert.deepEqual(JSON.parse(frames.plain.ofResponse(id, response(value))), { jsonrpc: '2.0', id, result });
      const modern = JSON.parse(frames.modern.ofResponse(id, response(value)));
      assert.deepEqual(modern, { jsonrpc: '2.0', id, result: { ...result, ...stamps } });
    }),
  );
});

test('ResultFrames cut what is too long in both forms', () => {
  for (const data of [{ content: 'x'.repeat(1024 * 1024) }, { lines: Array.from({ length: 90_000 }, () => 'word') }]) {
    const { result } = JSON.parse(frames.plain.ofResponse(1, response(data)));
    assert.ok(result.content[0].text.length < 300_000);
    assert.match(result.content[0].text, /\[cut: /);
    assert.deepEqual(result, JSON.parse(JSON.stringify(toToolResult(response(data)))));
  }
});
