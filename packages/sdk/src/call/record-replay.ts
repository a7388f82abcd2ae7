/** Answers a repeated key from the record. The repetition is itself recorded; no second effect happens. */
import type { ErrorEntry, JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { TerminalStatus } from '../contracts/classes.ts';
import type { JudgedCall, Outcome } from './state/call-types.ts';
import type { SessionParts } from './state/session-parts.ts';
import { noteDecision, writeTrail } from './state/trail.ts';

interface RecordedAnswer {
  readonly status: TerminalStatus;
  readonly data: JsonValue;
  readonly errors: readonly ErrorEntry[];
  readonly warnings: readonly ErrorEntry[];
}

export async function recordReplay(call: JudgedCall, answer: JsonValue, parts: SessionParts): Promise<Outcome> {
  const { open } = call;
  noteDecision(open, { outcome: 'allow', gate: 'idempotency', code: 'answered_from_record' }, parts);
  await open.time.wait('record', () => writeTrail(open, parts));
  const recorded = answer as JsonObject & RecordedAnswer;
  open.warnings.push(...recorded.warnings);
  return {
    status: recorded.status,
    data: recorded.data,
    errors: recorded.errors,
    changes: [],
    bytes: 0,
    endedAt: parts.clock.now(),
    durationMs: parts.clock.monotonic() - open.startedTick,
  };
}
