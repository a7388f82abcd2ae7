/** The journal against what clients were told: whatever was acknowledged is on record, and nothing else is. */
import type { StoredRecord } from '@tool-runtime/sdk';
import type { CallBook, SentCall } from './call-book.ts';
import type { Problems } from './problems.ts';

/** Requests of clients that are not tracked begin with this. */
export const FOREIGN = 'foreign-';

export interface JournalCounts {
  records: number;
  requested: number;
  results: number;
  fromRecord: number;
  refused: number;
  /** Intents without a result: their process was killed in between. */
  unfinished: number;
  recoveries: number;
  /** Requests on record after the last report of a call whose process died. */
  requestedSinceReport: number;
  sessionsOpened: number;
  sessionsClosed: number;
}

interface RecordedCall {
  readonly call: SentCall | undefined;
  readonly tool: string;
  isRefused: boolean;
  isFromRecord: boolean;
  intents: number;
  results: number;
  isCompleted: boolean;
  recoveries: number;
}

export function checkJournal(records: Iterable<StoredRecord>, book: CallBook, problems: Problems): JournalCounts {
  const counts: JournalCounts = {
    records: 0,
    requested: 0,
    results: 0,
    fromRecord: 0,
    refused: 0,
    unfinished: 0,
    recoveries: 0,
    requestedSinceReport: 0,
    sessionsOpened: 0,
    sessionsClosed: 0,
  };
  const recorded = new Map<string, RecordedCall>();
  const requests = new Map<string, RecordedCall>();
  for (const record of records) {
    counts.records += 1;
    // A retry of a key may add a recovery record later, which says what became of the call.
    if (record.kind === 'recovery' && record.reason === 'crashed') counts.requestedSinceReport = 0;
    if (record.kind === 'session') {
      counts[record.event === 'opened' ? 'sessionsOpened' : 'sessionsClosed'] += 1;
    } else if (record.kind === 'requested') {
      counts.requested += 1;
      counts.requestedSinceReport += 1;
      const { request_id, session_id, tool } = record;
      const call = book.calls.get(request_id);
      const isForeign = request_id.startsWith(FOREIGN);
      if (call?.sessionId !== session_id && !isForeign) problems.add(`record of a request nobody made: ${request_id}`);
      if (requests.has(request_id) && !isForeign) problems.add(`request recorded twice: ${request_id}`);
      const entry = { call, tool, isRefused: false, isFromRecord: false, isCompleted: false };
      const started: RecordedCall = { ...entry, intents: 0, results: 0, recoveries: 0 };
      requests.set(request_id, started);
      recorded.set(record.call_id, started);
    } else if ('call_id' in record && record.call_id !== undefined) {
      const entry = recorded.get(record.call_id);
      if (entry === undefined) problems.add(`${record.kind} of an unknown call: ${record.call_id}`);
      else note(entry, record);
    }
  }
  for (const [requestId, entry] of requests) judge(requestId, entry, { counts, problems });
  for (const call of book.calls.values()) {
    if (call.state === 'open') problems.add(`never answered: ${call.requestId} (${call.plan.kind})`);
    if (call.state === 'answered' && call.outcome !== 'error' && !requests.has(call.requestId)) {
      problems.add(`acknowledged and not on record: ${call.requestId} (${call.plan.kind})`);
    }
  }
  return counts;
}

function note(entry: RecordedCall, record: StoredRecord): void {
  if (record.kind === 'decision') {
    entry.isRefused ||= record.outcome === 'deny';
    entry.isFromRecord ||= record.code === 'answered_from_record';
  } else if (record.kind === 'intent') entry.intents += 1;
  // One says that the process died; a later one may say what became of the call.
  else if (record.kind === 'recovery' && record.reason === 'crashed') entry.recoveries += 1;
  else if (record.kind === 'result') {
    entry.results += 1;
    entry.isCompleted = record.status === 'completed';
  }
}

function judge(
  requestId: string,
  entry: RecordedCall,
  { counts, problems }: { readonly counts: JournalCounts; readonly problems: Problems },
): void {
  const { call, intents, results, recoveries } = entry;
  const what = `${requestId} (${call?.plan.kind ?? entry.tool}, ${call?.state})`;
  counts.results += results;
  counts.recoveries += recoveries;
  if (entry.isRefused) counts.refused += 1;
  if (entry.isFromRecord) counts.fromRecord += 1;
  if (intents > 1 || results > 1) problems.add(`ran ${intents} times with ${results} results: ${what}`);
  if (results > intents) problems.add(`result without an intent: ${what}`);
  if (intents > results) {
    counts.unfinished += 1;
    if (recoveries === 0) problems.add(`intent without a result was not reported: ${what}`);
  } else if (recoveries > 0) problems.add(`reported as lost although it has a result: ${what}`);
  if (call?.state !== 'answered') return;
  if (call.outcome === 'error') problems.add(`refused at the door and yet on record: ${what}`);
  const isRecordedOk = entry.isCompleted || (entry.isFromRecord && results === 0);
  if (call.outcome === 'ok' && !isRecordedOk) problems.add(`acknowledged as done, recorded otherwise: ${what}`);
  if (call.outcome === 'failed' && !entry.isRefused && (results === 0 || entry.isCompleted)) {
    problems.add(`acknowledged as failed, recorded otherwise: ${what}`);
  }
}
