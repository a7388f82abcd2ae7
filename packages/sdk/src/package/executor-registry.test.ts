import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { completedOutput } from './execution-output.ts';
import { createExecutorRegistry, type ToolExecutor } from './executor-registry.ts';
import type { ToolExecutionRequest } from './tool-call.ts';

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
