import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TERMINAL_STATUSES } from '../contracts/classes.ts';
import { completedOutput, failedOutput, type ToolExecutionOutput, toEffectResult } from './execution-output.ts';

test('the constructors set exactly their fields [S1-29]', () => {
  assert.deepEqual(completedOutput('read 3 bytes'), {
    terminal_status: 'completed',
    content_refs: [],
    redacted_summary: 'read 3 bytes',
  });
  assert.deepEqual(failedOutput('no such file', 'E_FILE_IO'), {
    terminal_status: 'failed',
    content_refs: [],
    redacted_summary: 'no such file',
    error_ref: 'E_FILE_IO',
  });
});

test('an effect result is the output and its effect id [S1-28 S1-30]', () => {
  for (const terminal_status of TERMINAL_STATUSES) {
    const output: ToolExecutionOutput = {
      terminal_status,
      content_refs: [{ id: 'content.1' }],
      redacted_summary: 'summary',
      external_operation_id: 'operation.1',
      reconciliation_ref: 'reconciliation.1',
      error_ref: 'error.1',
    };
    assert.deepEqual(toEffectResult(output, 'effect.call.1'), { ...output, effect_id: 'effect.call.1' });
  }
});

test('absent members stay absent [S1-30]', () => {
  assert.deepEqual(Object.keys(toEffectResult(completedOutput('done'), 'effect.call.1')), [
    'effect_id',
    'terminal_status',
    'content_refs',
    'redacted_summary',
  ]);
});
