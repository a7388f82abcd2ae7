import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ToolError } from '@tool-runtime/protocol';
import { reportFault } from './settle.ts';

function reported(error: ToolError): readonly ToolError[] {
  const heard: ToolError[] = [];
  reportFault(error, { reportUnexpected: (fault) => void heard.push(fault) });
  return heard;
}

describe('reporting a fault', () => {
  test('tells of an internal failure that has a cause', () => {
    const fault = new ToolError('E_INTERNAL', 'The runtime failed unexpectedly', { cause: new TypeError('broken') });
    assert.deepEqual(reported(fault), [fault]);
  });

  test('is silent about a refusal, about a failure that says all itself, and about a cancelled call', () => {
    const cause = new TypeError('stopped underneath');
    const details = { reason: 'cancelled' };
    assert.deepEqual(reported(new ToolError('E_POLICY', 'Refused', { cause })), []);
    assert.deepEqual(reported(new ToolError('E_INTERNAL', 'File vanished')), []);
    assert.deepEqual(reported(new ToolError('E_INTERNAL', 'Call was cancelled', { details, cause })), []);
  });
});
