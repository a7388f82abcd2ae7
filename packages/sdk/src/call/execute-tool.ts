/**
 * Runs the tool under its deadline and determines its outcome. Never throws: an error is an outcome like any other.
 *
 * A tool that answers synchronously needs no timer. One that ignores its deadline gets a short grace, then the call is
 * answered without it, and it can no longer change anything.
 */
import { type JsonValue, ToolError } from '@tool-runtime/protocol';
import type { TerminalStatus } from '../contracts/classes.ts';
import { completeRefusal, isCancellation } from '../contracts/failures.ts';
import type { MaybePromise } from '../contracts/workspace.ts';
import { maskEntry } from '../redaction/redact-error.ts';
import type { Execution, GatedCall, Outcome, RecordedCall } from './state/call-types.ts';
import { ChangeLog, Grant } from './state/change-log.ts';
import type { SessionParts } from './state/session-parts.ts';
import { errorOf, reportFault, shownData, timesOf } from './state/settle.ts';
import { CallContext } from './tool-context/execution-context.ts';
import { checkPaths, requireApproved } from './tool-context/permissions.ts';
import { runExecutor } from './tool-context/run-executor.ts';

export function executeTool(call: GatedCall, parts: SessionParts): MaybePromise<Execution> {
  const grant = new Grant(parts.ledger);
  const recordIn = parts.changes.isRecording ? call.open.sets : undefined;
  const changes = new ChangeLog({ keepOriginals: parts.rules.has('after'), recordIn });
  const context = new CallContext(call, { log: changes, grant }, parts);
  const task = { isRunning: false };
  const answered = (answer: unknown): Execution => {
    if (context.held !== undefined) requireApproved(context.held);
    const data = checkedData(call, answer);
    return { data, error: undefined, changes, facts: context.facts, effect: context.effect, isLeft: false, grant };
  };
  const failed = (thrown: unknown): Execution => {
    const error = errorOf(thrown);
    if (task.isRunning) grant.revoke(() => error);
    return {
      data: null,
      error,
      changes,
      facts: context.facts,
      effect: context.effect,
      isLeft: task.isRunning,
      grant,
    };
  };
  try {
    checkPaths(call, parts);
    const answer = call.open.time.wait('tool', () => start(call, context, { task, parts, changes }));
    return answer instanceof Promise ? answer.then(answered).catch(failed) : answered(answer);
  } catch (thrown) {
    return failed(thrown);
  }
}

/** The shape of an execution that a last gate stopped before the tool began. */
export function notExecuted(error: ToolError): Execution {
  return {
    data: null,
    error,
    changes: new ChangeLog({ keepOriginals: false }),
    facts: undefined,
    effect: undefined,
    isLeft: false,
    grant: new Grant(),
  };
}

/** A tool that answers synchronously is never running by the time anything else can happen. */
function start(
  call: RecordedCall,
  context: CallContext,
  {
    task,
    parts,
    changes,
  }: { readonly task: { isRunning: boolean }; readonly parts: SessionParts; readonly changes: ChangeLog },
): unknown {
  const { tool, executor } = call.compiled;
  const running: unknown =
    executor === undefined ? tool.run(call.subject.args, context) : runExecutor(executor, call, { context, parts });
  if (running instanceof Promise) {
    task.isRunning = true;
    const onEnd = call.onSlow?.();
    const ended = (): void => {
      task.isRunning = false;
      onEnd?.();
    };
    running.then(ended, ended);
    // What git wrote is looked at while the call still has its locks.
    if (call.subject.git !== undefined) return running.finally(() => changes.settle());
  }
  return running;
}

function checkedData(call: RecordedCall, delivered: unknown): JsonValue {
  const data = parsedData(call, delivered);
  if (!call.compiled.annotations.inline_result || !isHandlesOnly(data)) return data;
  throw new ToolError(
    'E_INTERNAL',
    `Tool promises inline results but answered with a handle only: ${call.subject.tool}`,
    {
      details: { reason: 'handles_only', next: 'put the result, or its beginning, into the answer beside the handle' },
    },
  );
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
  throw new ToolError('E_INTERNAL', `Tool broke its own result contract: ${call.subject.tool}`, {
    cause: parsed.error,
  });
}

/** The terminal status and figures that are recorded and answered. */
export function outcomeOf(call: RecordedCall, execution: Execution, parts: SessionParts): Outcome {
  const { error, changes } = execution;
  if (error !== undefined) reportFault(error, parts);
  return {
    status: error === undefined ? 'completed' : statusOf(error, call, execution),
    data: shownData(call, execution.data, parts),
    errors: error === undefined ? [] : [maskEntry(completeRefusal(error).toEntry(), parts.redactor, call.open.masks)],
    changes: error === undefined || error.details['rolled_back'] !== true ? changes.changes : [],
    bytes: bytesOf(call, execution),
    endedAt: parts.clock.now(),
    ...timesOf(call.open, parts),
  };
}

/** It is not known what a mutating tool did that was abandoned at its deadline. */
function statusOf(error: ToolError, call: RecordedCall, execution: Execution): TerminalStatus {
  if (execution.isLeft && call.mutationClass !== 'read_only') return 'unknown';
  if (isCancellation(error)) return 'cancelled';
  if (error.code === 'E_TIMEOUT') return 'timed_out';
  return 'failed';
}

/** Bytes that moved: what was written, else what the tool says its answer carries. */
function bytesOf(call: RecordedCall, execution: Execution): number {
  let written = 0;
  for (const change of execution.changes.changes) written += change.after?.size ?? 0;
  if (written > 0 || execution.error !== undefined) return written;
  return call.compiled.tool.measure?.(execution.data) ?? 0;
}
