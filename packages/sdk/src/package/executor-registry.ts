/** Executors by ref, in memory. An executor only runs the tool: journaling, approval and limits belong to the runtime. */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { TerminalStatus } from '../contracts/classes.ts';
import type { EffectResult } from '../contracts/effects.ts';
import { contractViolation } from '../contracts/failures.ts';
import { checkId, type EffectId, type ExecutorRef } from '../contracts/identifiers.ts';
import type { ContentRef } from '../contracts/refs.ts';
import type { ToolContext } from '../contracts/tool.ts';
import type { MaybePromise } from '../contracts/workspace.ts';
import type { ToolExecutionRequest } from './tool-router.ts';

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

/** What an executor of the embedding program is given beside the references. */
export interface ExecutorContext {
  /** As they were checked; frozen. */
  readonly args: JsonObject;
  /** What the tool may touch, under the policy of its session. */
  readonly context: ToolContext;
  /** The tool's own `run`, for executors that wrap it. */
  runTool(): unknown;
}

export interface ExecutorOutput extends ToolExecutionOutput {
  /** The answer, checked against the `data` of the tool. */
  readonly data?: JsonValue;
}

/** An executor kind of the embedding program. Tools name it in `executorRef`. */
export interface HostExecutor extends ToolExecutor<ExecutorContext> {
  execute(request: ToolExecutionRequest, context: ExecutorContext): MaybePromise<ExecutorOutput>;
}

export interface ToolExecutionOutput {
  readonly terminal_status: TerminalStatus;
  readonly content_refs: readonly ContentRef[];
  readonly redacted_summary: string;
  readonly external_operation_id?: string;
  readonly reconciliation_ref?: string;
  readonly error_ref?: string;
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

/** What an executor returns. The runtime adds the effect it belongs to. */
export function completedOutput(summary: string): ToolExecutionOutput {
  return { terminal_status: 'completed', content_refs: [], redacted_summary: summary };
}

export function failedOutput(summary: string, errorRef: string): ToolExecutionOutput {
  return { terminal_status: 'failed', content_refs: [], redacted_summary: summary, error_ref: errorRef };
}

export function toEffectResult(output: ToolExecutionOutput, effectId: EffectId): EffectResult {
  const { terminal_status, content_refs, redacted_summary, external_operation_id, reconciliation_ref, error_ref } =
    output;
  return {
    effect_id: effectId,
    terminal_status,
    content_refs,
    redacted_summary,
    ...(external_operation_id === undefined ? {} : { external_operation_id }),
    ...(reconciliation_ref === undefined ? {} : { reconciliation_ref }),
    ...(error_ref === undefined ? {} : { error_ref }),
  };
}
