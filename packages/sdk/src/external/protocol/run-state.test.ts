import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { nextRunState, RUN_STATES } from './run-state.ts';

test('S4-42 a run goes from created to one end and stays there', () => {
  const allowed = RUN_STATES.flatMap((from) =>
    RUN_STATES.filter((to) => {
      try {
        return nextRunState(from, to) === to;
      } catch (thrown) {
        assert.ok(isToolError(thrown) && thrown.code === 'E_VALIDATION_FAIL');
        return false;
      }
    }).map((to) => `${from} > ${to}`),
  );
  assert.deepEqual(allowed, [
    'created > exec_failed',
    'created > tool_result_valid',
    'created > backfilled',
    'exec_failed > exec_failed',
    'tool_result_valid > tool_result_valid',
    'backfilled > backfilled',
  ]);
});
