import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lowerCall } from './lower-call.ts';

test("S1-20 a provider's call is lowered without its raw arguments and with both keys unset", () => {
  const args = { path: 'secret/place.txt', content: 'hush' };
  const lowered = lowerCall({ name: 'file_write', args, callId: 'call_1', provider: 'openai' });
  assert.deepEqual(lowered, {
    tool_call_id: 'call_1',
    canonical_tool_name: 'file_write',
    source: { kind: 'external_runtime', id: 'openai', trust: 'external', privacy: 'internal' },
    requested_args_refs: [{ id: 'call_1' }],
    redacted_args_summary: 'arguments: path, content',
  });
});

test('an id that cannot be recorded stands as its digest, the same one each time', () => {
  const lower = (callId: string) => lowerCall({ name: 'grep', args: {}, callId, provider: 'x' }).tool_call_id;
  for (const id of ['i'.repeat(513), 'a\u0000b', '\ud800']) {
    assert.match(lower(id), /^sha256:[0-9a-f]{64}$/);
    assert.equal(lower(id), lower(id));
  }
  assert.equal(lower('i'.repeat(512)), 'i'.repeat(512));
});
