/** One call as one line for people: when, how it ended, what was asked, and why where it was refused or failed. */
import type { StoredRecord } from '@tool-runtime/sdk';
import { plainText } from '../terminal/plain-text.ts';
import { paint } from '../terminal/terminal.ts';

type RecordOf<Kind extends StoredRecord['kind']> = StoredRecord & { readonly kind: Kind };

/** What is on record about one call. */
export interface RecordedCall {
  readonly requested: RecordOf<'requested'>;
  denied?: RecordOf<'decision'>;
  asked?: RecordOf<'decision'>;
  /** Answered from the record of an earlier call with the same key. */
  repeated?: RecordOf<'decision'>;
  result?: RecordOf<'result'>;
}

/** In the order they were requested. Records of calls that began earlier are passed over. */
export function collectCalls(records: Iterable<StoredRecord>): readonly RecordedCall[] {
  const calls = new Map<string, RecordedCall>();
  for (const record of records) {
    if (record.kind === 'requested') calls.set(record.call_id, { requested: record });
    const call = 'call_id' in record && record.call_id !== undefined ? calls.get(record.call_id) : undefined;
    if (call === undefined) continue;
    if (record.kind === 'decision' && record.outcome === 'deny') call.denied = record;
    if (record.kind === 'decision' && record.outcome === 'ask') call.asked = record;
    if (record.kind === 'decision' && record.outcome === 'allow' && record.gate === 'idempotency')
      call.repeated = record;
    if (record.kind === 'result') call.result = record;
  }
  return [...calls.values()];
}

const SUMMARY = 100;

export function describeCall(call: RecordedCall): string {
  const { requested, asked, result } = call;
  const time = new Date(requested.at_ms).toISOString().slice(11, 19);
  const ended = endOf(call);
  const colour = ended === 'ok' || ended === 'repeated' ? 'green' : ended === 'open' ? 'yellow' : 'red';
  const summary = plainText(requested.args_summary);
  const took = result === undefined ? '' : ` ${paint('dim', `${result.duration_ms.toFixed(0)} ms`)}`;
  return [
    `${String(requested.seq).padStart(6)} ${paint('dim', time)} ${paint(colour, ended.padEnd(9))}`,
    `${plainText(requested.tool)} ${summary.length <= SUMMARY ? summary : `${summary.slice(0, SUMMARY - 1)}…`}${took}`,
    ...reasonOf(call),
    ...(asked === undefined ? [] : [paint('dim', 'asked')]),
  ].join(' ');
}

function endOf({ denied, repeated, result }: RecordedCall): string {
  if (result !== undefined) return result.status === 'completed' ? 'ok' : result.status;
  if (denied !== undefined) return 'refused';
  return repeated === undefined ? 'open' : 'repeated';
}

function reasonOf({ denied, result }: RecordedCall): readonly string[] {
  if (denied !== undefined && result === undefined) {
    const place = denied.registry === undefined ? '' : ` (${plainText(denied.registry)})`;
    return [`– ${denied.rule ?? denied.gate}${place}: ${plainText(denied.message ?? denied.code)}`];
  }
  const [error] = result?.errors ?? [];
  return error === undefined ? [] : [`– ${error.code}: ${plainText(error.message)}`];
}
