import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lowerProviderCall, type ProviderToolCall } from './tool-call.ts';

const source = { kind: 'user', id: 'user.1', trust: 'user_provided', privacy: 'internal' } as const;
const call: ProviderToolCall = {
  tool_call_id: 'call.1',
  canonical_tool_name: 'file_read',
  requested_args_refs: [{ id: 'content.1', digest: 'sha256:aa' }],
  redacted_args_summary: 'path: 9 characters',
};

test('lowering copies four fields, sets the source and leaves both keys unset [S1-19 S1-20]', () => {
  assert.deepEqual(lowerProviderCall(call, source), { ...call, source });
});

test('whatever else the adapter attached stays behind [S1-22]', () => {
  const chatty = {
    ...call,
    arguments: { path: 'secret.txt' },
    idempotency_key: 'k',
    dedupe_key: 'd',
    source: 'forged',
  };
  assert.deepEqual(lowerProviderCall(chatty as ProviderToolCall, source), { ...call, source });
});

test('leaves its input alone [S1-20]', () => {
  const before = structuredClone(call);
  lowerProviderCall(call, source);
  assert.deepEqual(call, before);
});

test('refuses ids that are empty, unprintable or too long [S1-44]', () => {
  for (const bad of [{ tool_call_id: '' }, { tool_call_id: 'a\u0000' }, { canonical_tool_name: 'n'.repeat(513) }]) {
    assert.throws(() => lowerProviderCall({ ...call, ...bad }, source), { code: 'E_VALIDATION_FAIL' });
  }
});
