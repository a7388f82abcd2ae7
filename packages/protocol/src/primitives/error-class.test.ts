import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withClass } from './error-class.ts';
import { ERROR_CODES, ToolError } from './errors.ts';

test('every error on the wire says of which kind it is and whether a repetition can help [S1-45]', () => {
  for (const code of ERROR_CODES) {
    const { kind, retry } = new ToolError(code, 'x').toEntry().details ?? {};
    assert.ok(typeof kind === 'string' && typeof retry === 'string', code);
  }
});

test('what an error says of itself stays, and a cancellation is recognised by its reason [S1-45]', () => {
  assert.deepEqual(withClass('E_HTTP', { retry: 'repair_needed', host: 'a' }), {
    host: 'a',
    kind: 'tool_failure',
    retry: 'repair_needed',
  });
  assert.deepEqual(withClass('E_INTERNAL', { reason: 'cancelled' }), {
    reason: 'cancelled',
    kind: 'cancellation',
    retry: 'retryable',
  });
  const complete = { kind: 'a', retry: 'b' };
  assert.equal(withClass('E_INTERNAL', complete), complete);
});
