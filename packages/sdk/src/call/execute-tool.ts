/**
 * Runs the tool under its deadline. Never throws: an error is an outcome like any other.
 *
 * A tool that answers synchronously needs no timer. One that ignores its deadline gets a short grace, then the call is
 * answered without it; its locks stay taken until it really ends.
 */
import { isToolError, type JsonValue, ToolError, toToolError } from '@tool-runtime/protocol';
import { failedOutput } from '../package/execution-output.ts';
import type { Execution, GatedCall, RecordedCall } from './call-types.ts';
import { ChangeLog } from './change-log.ts';
import { CallContext } from './execution-context.ts';
import type { SessionParts } from './session-parts.ts';
import { errorOf } from './settle.ts';

const GRACE_MS = 2_000;

export async function executeTool(call: GatedCall, parts: SessionParts): Promise<Execution> {
  const changes = new ChangeLog(parts.workspace, { keepOriginals: parts.rules.has('after') });
  const context = new CallContext(call, changes, parts);
  const race = { lingering: undefined as Promise<unknown> | undefined };
  try {
    const output = await start(call, context, race, parts);
    const data = checkedData(call, context.delivered);
    return { data, error: undefined, changes, output, facts: context.facts, lingering: undefined };
  } catch (thrown) {
    const error = errorOf(thrown);
    return {
      data: null,
      error,
      changes,
      output: failedOutput(error.message, error.code),
      facts: context.facts,
      lingering: race.lingering,
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
    lingering: undefined,
  };
}

function start(call: RecordedCall, context: CallContext, race: Race, parts: SessionParts) {
  const { route } = call.compiled;
  const executor = parts.executors.get(route.executor_ref ?? '');
  if (executor === undefined) throw new TypeError(`No executor: ${route.executor_ref}`);
  if (call.open.cancelled()) throw call.open.signal().reason;
  const running = executor.execute(
    {
      resolved_call: { request: toolCallRequest(call), route },
      effect_intent: call.intent,
      strategy: { type: 'sequential' },
    },
    context,
  );
  return running instanceof Promise ? withDeadline(call, running, race) : running;
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

interface Race {
  lingering: Promise<unknown> | undefined;
}

/** The caller may lower the limit by argument or by request, never raise it past the tool's maximum. */
function limitMs(call: RecordedCall): number {
  const { compiled, open, args } = call;
  const asked = compiled.tool.timeoutArg === undefined ? undefined : args[compiled.tool.timeoutArg];
  const own = typeof asked === 'number' ? asked : compiled.timeoutMs;
  return Math.min(own, open.request.timeoutMs ?? Number.POSITIVE_INFINITY, compiled.maxTimeoutMs);
}

async function withDeadline<T>(call: RecordedCall, running: Promise<T>, race: Race): Promise<T> {
  const limit = limitMs(call);
  const signal = call.open.signal();
  const timer = setTimeout(() => call.open.abort(timedOut(call, limit)), limit);
  let graceTimer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const gaveUp = new Promise<never>((_, reject) => {
    onAbort = () => {
      graceTimer = setTimeout(() => {
        race.lingering = running.catch(() => undefined);
        reject(signal.reason);
      }, GRACE_MS);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([running, gaveUp]);
  } catch (thrown) {
    throw signal.aborted ? abortReason(thrown, signal) : thrown;
  } finally {
    clearTimeout(timer);
    clearTimeout(graceTimer);
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  }
}

/** A tool that was stopped may know more (partial output) than the bare reason: keep what it says about itself. */
function abortReason(thrown: unknown, signal: AbortSignal): unknown {
  const reason = toToolError(signal.reason);
  if (!isToolError(thrown) || thrown === reason) return reason;
  const details = { ...thrown.details, ...reason.details };
  return new ToolError(reason.code, reason.message, { details, cause: thrown });
}

function timedOut(call: RecordedCall, limit: number): ToolError {
  return new ToolError('E_TIMEOUT', `Tool took longer than ${limit} ms: ${call.view.tool}`, {
    details: { timeout_ms: limit, next: 'ask for less at once, or raise the time limit where the registry allows it' },
  });
}

function checkedData(call: RecordedCall, delivered: unknown): JsonValue {
  if (call.compiled.tool.isDataProven === true) return delivered as JsonValue;
  const parsed = call.compiled.tool.data.safeParse(delivered);
  if (parsed.success) return parsed.data as JsonValue;
  throw new ToolError('E_INTERNAL', `Tool broke its own result contract: ${call.view.tool}`, { cause: parsed.error });
}
