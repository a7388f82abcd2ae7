/**
 * Runs the tool under its deadline. Never throws: an error is an outcome like any other.
 *
 * A tool that answers synchronously needs no timer. One that ignores its deadline gets a short grace, then it is left
 * behind: the call is answered without it, and it can change nothing any more.
 */
import { type JsonValue, ToolError } from '@tool-runtime/protocol';
import { failedOutput } from '../package/execution-output.ts';
import type { Execution, GatedCall, RecordedCall } from './state/call-types.ts';
import { ChangeLog } from './state/change-log.ts';
import { Grant } from './state/grant.ts';
import type { SessionParts } from './state/session-parts.ts';
import { errorOf } from './state/settle.ts';
import { CallContext } from './tool-context/execution-context.ts';
import { checkPaths } from './tool-context/path-rule-of.ts';

export async function executeTool(call: GatedCall, parts: SessionParts): Promise<Execution> {
  const grant = new Grant();
  const changes = new ChangeLog(grant.workspace(call.workspace), { keepOriginals: parts.rules.has('after') });
  const context = new CallContext(call, { log: changes, grant }, parts);
  const task = { isRunning: false };
  try {
    checkPaths(call, parts);
    const output = await call.open.time.wait('tool', () => start(call, context, task, parts));
    const data = checkedData(call, context.delivered);
    return { data, error: undefined, changes, output, facts: context.facts, isLeft: false, grant };
  } catch (thrown) {
    const error = errorOf(thrown);
    if (task.isRunning) grant.revoke(error);
    return {
      data: null,
      error,
      changes,
      output: failedOutput(error.message, error.code),
      facts: context.facts,
      isLeft: task.isRunning,
      grant,
    };
  }
}

/** The shape of an execution that a last gate stopped before the tool began. */
export function notExecuted(error: ToolError, parts: SessionParts): Execution {
  return {
    data: null,
    error,
    changes: new ChangeLog(parts.workspace, { keepOriginals: false }),
    output: failedOutput(error.message, error.code),
    facts: undefined,
    isLeft: false,
    grant: new Grant(),
  };
}

function start(call: RecordedCall, context: CallContext, task: { isRunning: boolean }, parts: SessionParts) {
  const { route } = call.compiled;
  const executor = parts.executors.get(route.executor_ref ?? '');
  if (executor === undefined) throw new TypeError(`No executor: ${route.executor_ref}`);
  const running = executor.execute(
    {
      resolved_call: { request: toolCallRequest(call), route },
      effect_intent: call.intent,
      strategy: { type: 'sequential' },
    },
    context,
  );
  if (running instanceof Promise) {
    task.isRunning = true;
    const ended = (): void => {
      task.isRunning = false;
    };
    running.then(ended, ended);
  }
  return running;
}

function toolCallRequest(call: RecordedCall) {
  return {
    tool_call_id: call.open.callId,
    canonical_tool_name: call.view.tool,
    source: call.view.source,
    requested_args_refs: [],
    redacted_args_summary: call.view.argsSummary,
  };
}

function checkedData(call: RecordedCall, delivered: unknown): JsonValue {
  const data = parsedData(call, delivered);
  if (!call.compiled.annotations.inline_result || !isHandlesOnly(data)) return data;
  throw new ToolError('E_INTERNAL', `Tool promises inline results but answered with a handle only: ${call.view.tool}`, {
    details: { reason: 'handles_only', next: 'put the result, or its beginning, into the answer beside the handle' },
  });
}

const REFERENCE = /^(?:artifact:[0-9a-f]{32}|sha256:[0-9a-f]{64})$/;
const SIZES: ReadonlySet<string> = new Set(['bytes', 'size']);

/** Nothing but handles of artifacts, their digests and sizes. */
function isHandlesOnly(data: JsonValue, key = ''): boolean {
  if (typeof data === 'string') return REFERENCE.test(data);
  if (typeof data === 'number') return SIZES.has(key);
  if (typeof data !== 'object' || data === null) return false;
  const entries = Object.entries(data);
  return entries.length > 0 && entries.every(([name, value]) => value === null || isHandlesOnly(value, name));
}

function parsedData(call: RecordedCall, delivered: unknown): JsonValue {
  if (call.compiled.tool.isDataProven === true) return delivered as JsonValue;
  const parsed = call.compiled.tool.data.safeParse(delivered);
  if (parsed.success) return parsed.data as JsonValue;
  throw new ToolError('E_INTERNAL', `Tool broke its own result contract: ${call.view.tool}`, { cause: parsed.error });
}
