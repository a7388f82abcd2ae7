import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError, MAX_ID_BYTES } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { checkId, redactedId } from './identifiers.ts';

function refusal(value: unknown): unknown {
  try {
    checkId(value as string, 'tool_call_id');
    return 'accepted';
  } catch (thrown) {
    assert.ok(isToolError(thrown));
    assert.equal(thrown.code, 'E_VALIDATION_FAIL');
    assert.equal(thrown.details['field'], 'tool_call_id');
    if (typeof value === 'string' && value.length > 3) assert.ok(!thrown.message.includes(value));
    return thrown.details['kind'];
  }
}

describe('checkId', () => {
  test('returns a printable, bounded id unchanged [S1-44]', () => {
    for (const value of ['a', 'call-1', 'ünïcode 日本 🙂', 'a'.repeat(MAX_ID_BYTES), 'é'.repeat(MAX_ID_BYTES / 2)]) {
      assert.equal(checkId(value, 'id'), value);
    }
  });

  test('reports an absent id as a missing field [S1-44]', () => {
    for (const value of ['', undefined, null, 7, {}]) assert.equal(refusal(value), 'invalid_package');
  });

  test('counts bytes, not characters [S1-44]', () => {
    assert.equal(refusal('a'.repeat(MAX_ID_BYTES + 1)), 'invalid_state_transition');
    assert.equal(refusal('é'.repeat(MAX_ID_BYTES / 2 + 1)), 'invalid_state_transition');
    assert.equal(refusal('é'.repeat(MAX_ID_BYTES / 2)), 'accepted');
  });

  test('refuses every control character and lone surrogate, wherever it stands [S1-44]', () => {
    const bad = fc.oneof(
      fc.integer({ min: 0, max: 0x1f }),
      fc.integer({ min: 0x7f, max: 0x9f }),
      fc.integer({ min: 0xd800, max: 0xdfff }),
    );
    const text = fc.stringMatching(/^[a-z]{0,5}$/);
    fc.assert(
      fc.property(text, bad, text, (head, code, tail) => {
        assert.equal(refusal(head + String.fromCharCode(code) + tail), 'invalid_state_transition');
      }),
    );
  });
});

test('an id in debug output is named, never shown [S1-44]', () => {
  assert.equal(redactedId('session'), '[session]');
});
