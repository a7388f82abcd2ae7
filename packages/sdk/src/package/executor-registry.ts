/**
 * Executors by ref, in memory. An executor only runs the tool: journaling, approval and limits are the runtime's.
 */
import { contractViolation } from '../contracts/failures.ts';
import { checkId, type ExecutorRef } from '../contracts/identifiers.ts';
import type { MaybePromise } from '../contracts/workspace.ts';
import type { ToolExecutionOutput } from './execution-output.ts';
import type { ToolExecutionRequest } from './tool-call.ts';

export interface ToolExecutor<Context = unknown> {
  readonly executorRef: ExecutorRef;
  /** May answer synchronously: a tool that does not wait should not make its caller wait. */
  execute(request: ToolExecutionRequest, context: Context): MaybePromise<ToolExecutionOutput>;
}

export interface ExecutorRegistry<Context = unknown> {
  /** The same instance again is fine; another one under a taken ref is refused, so none is replaced by accident. */
  register(executor: ToolExecutor<Context>): void;
  /** Takes the ref over from any other executor. */
  replace(executor: ToolExecutor<Context>): void;
  get(executorRef: ExecutorRef): ToolExecutor<Context> | undefined;
  readonly size: number;
  isEmpty(): boolean;
}

export function createExecutorRegistry<Context = unknown>(): ExecutorRegistry<Context> {
  const executors = new Map<ExecutorRef, ToolExecutor<Context>>();

  const replace = (executor: ToolExecutor<Context>): void => {
    executors.set(checkId(executor.executorRef, 'tool_executor.executor_ref'), executor);
  };

  return {
    register(executor) {
      const holder = executors.get(executor.executorRef);
      if (holder !== undefined && holder !== executor) {
        throw contractViolation(`Executor ref is taken: ${executor.executorRef}`, {
          field: 'tool_executor.executor_ref',
          next: 'Use replace() where taking over is meant',
        });
      }
      replace(executor);
    },
    replace,
    get: (executorRef) => executors.get(executorRef),
    get size() {
      return executors.size;
    },
    isEmpty: () => executors.size === 0,
  };
}
