/**
 * The journal of a site against what clients were told: whatever was acknowledged is on record with the same outcome,
 * nothing ran twice, and what has no result was reported.
 */
import type { StoredRecord } from '@tool-runtime/sdk';
import type { SentCall } from '../../../packages/host/test/load/call-book.ts';
import type { Problems } from '../../../packages/host/test/load/problems.ts';

export interface JournalCounts {
  records: number;
  requested: number;
  results: number;
  refused: number;
  unfinished: number;
  recoveries: number;
}

/** What is on record of one call. */
interface Recorded {
  readonly requestId: string;
  readonly sessionId: string;
  readonly tool: string;
  intents: number;
  results: number;
  recoveries: number;
  isCompleted: boolean;
  isRefused: boolean;
  isFromRecord: boolean;
}

export interface ToldCall extends Pick<SentCall, 'requestId' | 'sessionId' | 'transport' | 'state' | 'outcome'> {
  readonly tool: string;
  /** What it was told when it failed. */
  readonly failure?: { readonly said: string; readonly isUnrecorded: boolean } | undefined;
}

/** `calls` are those of this site's sessions. Requests over MCP have ids of the host's own, and are counted instead. */
export function judgeJournal(
  records: Iterable<StoredRecord>,
  calls: readonly ToldCall[],
  problems: Problems,
): JournalCounts {
  const recorded = collect(records);
  const counts: JournalCounts = {
    records: recorded.records,
    requested: 0,
    results: 0,
    refused: 0,
    unfinished: 0,
    recoveries: 0,
  };
  const byRequest = new Map<string, Recorded>();
  for (const entry of recorded.calls.values()) {
    counts.requested += 1;
    counts.results += entry.results;
    counts.recoveries += entry.recoveries;
    if (entry.isRefused) counts.refused += 1;
    if (entry.intents > entry.results) counts.unfinished += 1;
    judgeEntry(entry, problems);
    if (byRequest.has(entry.requestId)) problems.add(`request recorded twice: ${entry.requestId} (${entry.tool})`);
    byRequest.set(entry.requestId, entry);
  }
  for (const call of calls) {
    if (call.transport !== 'mcp') judgeTold(call, byRequest.get(call.requestId), problems);
  }
  judgeCounted([...recorded.calls.values()], calls, problems);
  return counts;
}

function collect(records: Iterable<StoredRecord>): { readonly records: number; readonly calls: Map<string, Recorded> } {
  const calls = new Map<string, Recorded>();
  let count = 0;
  for (const record of records) {
    count += 1;
    if (record.kind === 'requested') {
      const { request_id: requestId, session_id: sessionId, tool } = record;
      const flags = { isCompleted: false, isRefused: false, isFromRecord: false };
      calls.set(record.call_id, { requestId, sessionId, tool, intents: 0, results: 0, recoveries: 0, ...flags });
    } else if ('call_id' in record && record.call_id !== undefined) {
      const entry = calls.get(record.call_id);
      if (entry !== undefined) note(entry, record);
    }
  }
  return { records: count, calls };
}

function note(entry: Recorded, record: StoredRecord): void {
  if (record.kind === 'intent') entry.intents += 1;
  if (record.kind === 'recovery') entry.recoveries += 1;
  if (record.kind === 'decision') {
    entry.isRefused ||= record.outcome === 'deny';
    entry.isFromRecord ||= record.code === 'answered_from_record';
  }
  if (record.kind === 'result') {
    entry.results += 1;
    entry.isCompleted = record.status === 'completed';
  }
}

function judgeEntry({ requestId, tool, intents, results, recoveries }: Recorded, problems: Problems): void {
  const what = `${requestId} (${tool})`;
  if (intents > 1 || results > 1) problems.add(`ran ${intents} times with ${results} results: ${what}`);
  if (results > intents) problems.add(`result without an intent: ${what}`);
  if (intents > results && recoveries === 0) problems.add(`intent without a result was not reported: ${what}`);
}

function judgeTold(call: ToldCall, entry: Recorded | undefined, problems: Problems): void {
  const what = `${call.requestId} (${call.tool} over ${call.transport}) ${call.failure?.said ?? ''}`;
  if (call.state === 'open') problems.add(`never answered: ${what}`);
  if (call.state !== 'answered' || call.outcome === 'error' || call.failure?.isUnrecorded === true) return;
  if (entry === undefined) {
    problems.add(`acknowledged as ${call.outcome} and not on record: ${what}`);
    return;
  }
  if (entry.sessionId !== call.sessionId) problems.add(`recorded under another session: ${what}`);
  const isRecordedOk = entry.isCompleted || (entry.isFromRecord && entry.results === 0);
  if (call.outcome === 'ok' && !isRecordedOk) problems.add(`acknowledged as done, recorded otherwise: ${what}`);
  const isRecordedFailed = entry.isRefused || entry.isFromRecord || (entry.results === 1 && !entry.isCompleted);
  if (call.outcome === 'failed' && !isRecordedFailed)
    problems.add(`acknowledged as failed, recorded otherwise: ${what}`);
}

/** Of each session and tool over MCP: as many successes on record as were told, or more. */
function judgeCounted(recorded: readonly Recorded[], calls: readonly ToldCall[], problems: Problems): void {
  const told = new Map<string, number>();
  for (const { transport, outcome, sessionId, tool } of calls) {
    if (transport !== 'mcp' || outcome !== 'ok') continue;
    const name = `${sessionId} ${tool}`;
    told.set(name, (told.get(name) ?? 0) + 1);
  }
  for (const { sessionId, tool, isCompleted } of recorded) {
    const name = `${sessionId} ${tool}`;
    const left = told.get(name);
    if (isCompleted && left !== undefined) told.set(name, left - 1);
  }
  for (const [name, missing] of told) {
    if (missing > 0) problems.add(`${missing} calls over MCP were acknowledged as done and are not on record: ${name}`);
  }
}
