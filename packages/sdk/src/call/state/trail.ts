/**
 * What one call leaves for others: its records and its events.
 *
 * Records are collected while the call is checked and are written together: fewer commits, same order. Events are built
 * only when a listener wants them. Each carries the id of the request, and none follows the answer.
 */
import type { ErrorEntry, JsonObject } from '@tool-runtime/protocol';
import type { DecisionRecord, JournalRecord, RequestedRecord } from '../../contracts/journal.ts';
import { STATUS_EVENT } from '../../contracts/telemetry.ts';
import type { MaybePromise } from '../../contracts/workspace.ts';
import type { JudgedCall, OpenCall } from './call-types.ts';
import type { IdentityParts, RecordingParts, WatchingParts } from './session-parts.ts';

/** The phases of a call that listeners of every status hear of. */
export const PHASES = {
  preCheck: { status: 'pending', phase: 'pre-check' },
  execute: { status: 'in_progress', phase: 'execute' },
  sync: { status: 'in_progress', phase: 'sync' },
  validate: { status: 'in_progress', phase: 'validate' },
  emit: { status: 'in_progress', phase: 'emit' },
} as const;

type Phase = (typeof PHASES)[keyof typeof PHASES];

/** States what was asked, once; a later round of checks (edited arguments) shows in the hash of the intent. */
export function noteRequested(
  open: OpenCall,
  asked: { readonly argsHash: string; readonly argsSummary: string; readonly details?: JsonObject | undefined },
  parts: IdentityParts & RecordingParts,
): void {
  if (open.progress.requested) return;
  open.progress.requested = true;
  const { request } = open;
  const key = request.idempotencyKey ?? request.dedupeKey;
  const record: RequestedRecord = {
    kind: 'requested',
    call_id: open.callId,
    session_id: open.sessionId,
    at_ms: open.startedAt,
    request_id: request.requestId,
    tool: request.tool,
    args_hash: asked.argsHash,
    args_summary: asked.argsSummary,
    actor: parts.actor,
    client: parts.client,
    ...(key === undefined ? {} : { idempotency_key: key }),
    ...(asked.details === undefined ? {} : { details: asked.details }),
  };
  open.trail.push(record);
}

export function noteDecision(
  open: OpenCall,
  decision: JudgedCall['decision'],
  parts: IdentityParts & RecordingParts,
): void {
  const record: DecisionRecord = {
    kind: 'decision',
    call_id: open.callId,
    session_id: open.sessionId,
    at_ms: parts.clock.now(),
    ...decision,
  };
  open.trail.push(record);
}

/**
 * Writes what is waiting, after any marker that an earlier failure left. On failure the trail is what it was. While the
 * journal has not answered, the records belong to it: a caller that stops waiting must not write them again.
 */
export function writeTrail(open: OpenCall, parts: IdentityParts & RecordingParts): Promise<void> {
  return handOver(open, (records) => parts.journal.append(records), parts);
}

/** The same with another way to write. */
export async function handOver<T>(
  { trail }: OpenCall,
  write: (records: readonly JournalRecord[]) => MaybePromise<T>,
  parts: IdentityParts & RecordingParts,
): Promise<T> {
  const records = trail.splice(0);
  try {
    return await parts.recovery.carry(records, write);
  } catch (thrown) {
    trail.unshift(...records);
    throw thrown;
  }
}

/** `CallStatusChanged`: pending → in_progress → completed or failed, for every call, refused ones included. */
export function announcePhase(
  open: OpenCall,
  phase: Phase,
  parts: IdentityParts & RecordingParts & WatchingParts,
): void {
  open.span?.stage(phase.phase);
  if (!parts.events.hears(parts.sessionId, 'all')) return;
  announce(open, parts, {
    event: STATUS_EVENT,
    message: phase.phase,
    data: { tool: open.request.tool, ...phase },
  });
}

/** The last event of a call. */
export function announceEnd(
  open: OpenCall,
  end: { readonly status: 'completed' | 'failed'; readonly outcome: string },
  parts: IdentityParts & RecordingParts & WatchingParts,
): void {
  if (parts.events.hears(parts.sessionId, 'all')) {
    open.progress.pct = 100;
    announce(open, parts, { event: STATUS_EVENT, message: end.status, data: { tool: open.request.tool, ...end } });
  }
  open.progress.ended = true;
}

/** `RuleViolation`: a rule or gate refused the call or warned. Other failures are not violations. */
export function announceViolation(
  open: OpenCall,
  entry: ErrorEntry,
  parts: IdentityParts & RecordingParts & WatchingParts,
): void {
  if (!isJudgement(entry) || !parts.events.hears(parts.sessionId, 'progress')) return;
  const message = parts.redact(entry.message);
  const data: Record<string, string> = { tool: open.request.tool, code: entry.code, message };
  for (const key of ['gate', 'rule', 'enforcement', 'registry']) {
    const value = entry.details?.[key];
    if (typeof value === 'string') data[key] = value;
  }
  announce(open, parts, { event: 'RuleViolation', message, data });
}

/** `ApprovalRequested` and `ApprovalAnswered`: summary and effect travel as redacted text, the arguments never do. */
export function announceApproval(
  open: OpenCall,
  approval: {
    readonly event: 'ApprovalRequested' | 'ApprovalAnswered';
    readonly data: Readonly<Record<string, string>>;
  },
  parts: IdentityParts & RecordingParts & WatchingParts,
): void {
  if (!parts.events.hears(parts.sessionId, 'progress')) return;
  const { event, data } = approval;
  const message = event === 'ApprovalRequested' ? `approval needed: ${data['summary']}` : `approval ${data['answer']}`;
  announce(open, parts, { event, message, data });
}

/** `TaskProgress`, as the tool reports it, kept between 0 and 100 percent. The percentage never decreases. */
export function announceProgress(
  open: OpenCall,
  report: { readonly pct: number; readonly message: string; readonly data: JsonObject | undefined },
  parts: IdentityParts & RecordingParts & WatchingParts,
): void {
  const { progress } = open;
  const bounded = Number.isFinite(report.pct) ? Math.min(100, Math.max(0, report.pct)) : 0;
  progress.pct = Math.max(progress.pct, bounded);
  if (!parts.events.hears(parts.sessionId, 'progress')) return;
  announce(open, parts, { event: 'TaskProgress', message: parts.redact(report.message), data: report.data });
}

function announce(
  open: OpenCall,
  parts: IdentityParts & RecordingParts & WatchingParts,
  news: { readonly event: string; readonly message: string; readonly data: JsonObject | undefined },
): void {
  if (open.progress.ended) return;
  parts.events.emit(parts.sessionId, {
    type: 'EventMessage',
    event: news.event,
    request_id: open.request.requestId,
    progress: { pct: open.progress.pct, message: news.message },
    ...(news.data === undefined ? {} : { data: news.data }),
  });
}

function isJudgement({ code, details }: ErrorEntry): boolean {
  if (code === 'E_POLICY' || details?.['rule'] !== undefined) return true;
  return code === 'E_VALIDATION_FAIL' && details?.['gate'] !== undefined;
}
