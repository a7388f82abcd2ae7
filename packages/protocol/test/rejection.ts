/** The ToolError a promise is rejected with; anything else fails the test. */
import assert from 'node:assert/strict';
import { isToolError, type ToolError } from '@tool-runtime/protocol';

export async function rejection(promise: Promise<unknown>): Promise<ToolError> {
  const thrown: unknown = await promise.then(
    () => assert.fail('the promise was meant to be rejected'),
    (error: unknown) => error,
  );
  assert.ok(isToolError(thrown), String(thrown));
  return thrown;
}
