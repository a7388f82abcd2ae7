import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TERMINAL_STATUSES } from '../contracts/classes.ts';
import {
  completedOutput,
  createExecutorRegistry,
  failedOutput,
  type ToolExecutionOutput,
  type ToolExecutor,
  toEffectResult,
} from './executor-registry.ts';
import type { ToolExecutionRequest } from './tool-router.ts';

const executor = (executorRef: string): ToolExecutor<string> => ({
  executorRef,
  execute: async (_request, context) => completedOutput(context),
});

describe('createExecutorRegistry', () => {
  test('starts empty, then finds by ref [S1-25]', () => {
    const registry = createExecutorRegistry<string>();
    assert.deepEqual([registry.size, registry.isEmpty(), registry.get('executor.a')], [0, true, undefined]);
    const a = executor('executor.a');
    registry.register(a);
    registry.register(executor('executor.b'));
    assert.deepEqual([registry.size, registry.isEmpty()], [2, false]);
    assert.equal(registry.get('executor.a'), a);
    assert.equal(registry.get('executor.A'), undefined);
  });

  test('hands the context of the call to the executor [S1-21 S1-23]', async () => {
    const registry = createExecutorRegistry<string>();
    registry.register(executor('executor.a'));
    const output = await registry.get('executor.a')?.execute({} as ToolExecutionRequest, 'done');
    assert.deepEqual(output, completedOutput('done'));
  });

  test('refuses an empty ref by the name of the field [S1-26]', () => {
    const registry = createExecutorRegistry<string>();
    for (const add of [registry.register, registry.replace]) {
      assert.throws(() => add(executor('')), {
        code: 'E_VALIDATION_FAIL',
        path: 'tool_executor.executor_ref',
        details: {
          kind: 'invalid_package',
          retry: 'host_configuration_needed',
          field: 'tool_executor.executor_ref',
        },
      });
    }
    assert.equal(registry.size, 0);
  });

  test('takes the same instance again, refuses another, replaces on demand [S1-27]', () => {
    const registry = createExecutorRegistry<string>();
    const first = executor('executor.a');
    const second = executor('executor.a');
    registry.register(first);
    registry.register(first);
    assert.throws(() => registry.register(second), { code: 'E_VALIDATION_FAIL', message: /taken: executor\.a$/ });
    assert.equal(registry.get('executor.a'), first);
    registry.replace(second);
    assert.equal(registry.get('executor.a'), second);
    assert.equal(registry.size, 1);
  });
});

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
