/** Runs the tools of this process behind the executor port. A synchronous tool stays synchronous. */

import type { CompiledTool, ExecutionContext } from '../call/state/session-parts.ts';
import type { AnyTool } from '../contracts/tool.ts';
import { completedOutput } from '../package/execution-output.ts';
import { createExecutorRegistry, type ExecutorRegistry, type ToolExecutor } from '../package/executor-registry.ts';

export function inProcessExecutors(tools: Iterable<CompiledTool>): ExecutorRegistry<ExecutionContext> {
  const executors = createExecutorRegistry<ExecutionContext>();
  for (const { tool, route } of tools) executors.register(inProcessExecutor(tool, route.executor_ref ?? ''));
  return executors;
}

function inProcessExecutor(tool: AnyTool, executorRef: string): ToolExecutor<ExecutionContext> {
  const output = completedOutput(`${tool.name} completed`);
  return {
    executorRef,
    execute(_request, context) {
      const answer: unknown = tool.run(context.args, context);
      if (!(answer instanceof Promise)) {
        context.respond(answer);
        return output;
      }
      return answer.then((data: unknown) => {
        context.respond(data);
        return output;
      });
    },
  };
}
