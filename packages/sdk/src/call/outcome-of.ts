/** Turns what the execution came to into the terminal status and figures that are recorded and answered. */
import type { ToolError } from '@tool-runtime/protocol';
import type { TerminalStatus } from '../contracts/classes.ts';
import { redactEntry } from '../redaction/redact-error.ts';
import type { Execution, Outcome, RecordedCall } from './state/call-types.ts';
import { reportFault } from './state/report-fault.ts';
import type { SessionParts } from './state/session-parts.ts';
import { shownData } from './state/shown-data.ts';

export function outcomeOf(call: RecordedCall, execution: Execution, parts: SessionParts): Outcome {
  const { error, changes } = execution;
  if (error !== undefined) reportFault(error, parts);
  return {
    status: error === undefined ? 'completed' : statusOf(error, call, execution),
    data: shownData(call, execution.data, parts),
    errors: error === undefined ? [] : [redactEntry(error.toEntry(), parts.redactor)],
    changes: error === undefined || error.details['rolled_back'] !== true ? changes.changes : [],
    bytes: bytesOf(call, execution),
    endedAt: parts.clock.now(),
    durationMs: parts.clock.monotonic() - call.open.startedTick,
  };
}

/** What a mutating tool did that was left behind at its deadline is not known. */
function statusOf(error: ToolError, call: RecordedCall, execution: Execution): TerminalStatus {
  if (execution.isLeft && call.view.mutationClass !== 'read_only') return 'unknown';
  if (error.details['reason'] === 'cancelled') return 'cancelled';
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
