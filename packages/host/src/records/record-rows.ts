/** A record of the journal as one row of a list, and what it adds to the row of its call. */
import type { CallRow, RecordRow } from '@tool-runtime/protocol';
import type { StoredRecord } from '@tool-runtime/sdk';

/** Rows are kept in memory, so what one record may add to them is bounded. */
const MAX_TEXT = 300;

export type CallDraft = { -readonly [Key in keyof CallRow]: CallRow[Key] } & {
  /** How many records it has. */
  count: number;
};

const cut = (text: string): string => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);

/** Member by member: a journal has many records, and spreads of optional members would be most of the work on each. */
export function rowOf(record: StoredRecord, call: CallDraft | undefined): RecordRow {
  const { word, text } = sayingOf(record);
  const row: { -readonly [Key in keyof RecordRow]: RecordRow[Key] } = {
    seq: record.seq,
    at_ms: record.at_ms,
    kind: record.kind,
    word,
    text: cut(text),
  };
  if ('session_id' in record) row.session_id = record.session_id;
  if ('call_id' in record && record.call_id !== undefined) row.call_id = record.call_id;
  if (call !== undefined) row.tool = call.tool;
  const client = 'client' in record ? record.client : call?.client;
  if (client !== undefined) row.client = client;
  if (record.kind === 'decision') {
    row.decision = record.outcome;
    row.rule = record.rule ?? record.gate;
  }
  const code = codeOf(record);
  if (code !== undefined) row.code = code;
  if (record.kind === 'result') row.status = record.status;
  return row;
}

function codeOf(record: StoredRecord): string | undefined {
  if (record.kind === 'result') return record.errors[0]?.code;
  return record.kind === 'decision' && record.outcome !== 'allow' ? record.code : undefined;
}

interface Saying {
  readonly word: string;
  readonly text: string;
}

function sayingOf(record: StoredRecord): Saying {
  switch (record.kind) {
    case 'session':
      return { word: record.event, text: `${record.actor} with ${record.client}` };
    case 'requested':
      return { word: 'requested', text: record.args_summary };
    case 'decision':
      return {
        word: record.outcome,
        text: [record.message, record.registry].filter(Boolean).join(' · ') || record.gate,
      };
    case 'approval':
      return {
        word: record.answer ?? record.phase,
        text: [record.answered_by, record.reason].filter(Boolean).join(': '),
      };
    case 'hook':
      return { word: record.action, text: record.hook };
    case 'intent':
      return { word: 'intent', text: record.retry_safe ? 'reads only' : 'may change something' };
    case 'result':
      return {
        word: record.status,
        text: record.errors[0]?.message ?? `${record.bytes} bytes in ${Number(record.duration_ms.toPrecision(3))} ms`,
      };
    case 'recovery':
      return { word: record.classification, text: [record.reason, record.note].filter(Boolean).join(': ') };
    case 'child':
      return { word: record.event, text: record.child_session_id };
    case 'plan':
      return { word: record.accepted ? 'accepted' : 'refused', text: record.note ?? `${record.steps.length} steps` };
    case 'checkpoint':
      return { word: 'checkpoint', text: `${record.open.length} calls open` };
    default:
      return { word: record.kind, text: '' };
  }
}

/** The row of a call so far, changed by its next record; a new one for its first. Undefined for records without a call. */
export function noteCall(record: StoredRecord, known: CallDraft | undefined): CallDraft | undefined {
  if (record.kind === 'requested') return requested(record);
  if (known === undefined) return undefined;
  known.last_seq = record.seq;
  known.count += 1;
  const stage = stageFrom(record);
  if (stage !== undefined) known.stages = [...known.stages, { stage, at_ms: record.at_ms }];
  if (record.kind === 'decision') noteDecision(known, record);
  else if (record.kind === 'result') noteResult(known, record);
  else if (record.kind === 'recovery') known.status = 'unknown';
  return known;
}

/** The stage that begins with a record. */
function stageFrom(record: StoredRecord): CallRow['stages'][number]['stage'] | undefined {
  if (record.kind === 'intent') return 'run';
  if (record.kind !== 'approval') return undefined;
  return record.phase === 'answered' ? 'gates' : 'person';
}

function requested(record: StoredRecord & { readonly kind: 'requested' }): CallDraft {
  return {
    call_id: record.call_id,
    session_id: record.session_id,
    request_id: record.request_id,
    tool: record.tool,
    actor: record.actor,
    client: record.client,
    summary: cut(record.args_summary),
    at_ms: record.at_ms,
    decision: 'allow',
    status: 'running',
    stages: [{ stage: 'gates', at_ms: record.at_ms }],
    first_seq: record.seq,
    last_seq: record.seq,
    count: 1,
  };
}

function noteDecision(call: CallDraft, record: StoredRecord & { readonly kind: 'decision' }): void {
  // A call that was asked about and then allowed stays one that was asked about.
  if (record.outcome !== 'allow' || call.decision === 'allow') call.decision = record.outcome;
  if (record.outcome === 'allow') return;
  call.gate = record.gate;
  if (record.rule !== undefined) call.rule = record.rule;
  if (record.registry !== undefined) call.registry = record.registry;
  if (record.message !== undefined) call.message = cut(record.message);
  if (record.outcome !== 'deny') return;
  call.code = record.code;
  call.status = 'denied_before_execution';
  call.end_ms = record.at_ms;
}

function noteResult(call: CallDraft, record: StoredRecord & { readonly kind: 'result' }): void {
  call.status = record.status;
  call.end_ms = record.at_ms;
  call.duration_ms = record.duration_ms;
  call.bytes = record.bytes;
  call.files = record.files_total ?? record.files.length;
  if (record.waited_ms !== undefined) call.waited_ms = record.waited_ms;
  const [first] = record.errors;
  if (first === undefined) return;
  call.code = first.code;
  call.message = cut(first.message);
}
