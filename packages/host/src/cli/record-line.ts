/** One journal record, or one call, as one line for people. */
import type { StoredRecord } from '@tool-runtime/sdk';
import { paint, plainText } from '../terminal/terminal.ts';

type RecordOf<Kind extends StoredRecord['kind']> = StoredRecord & { readonly kind: Kind };

/** What is on record about one call. */
interface RecordedCall {
  readonly requested: RecordOf<'requested'>;
  denied?: RecordOf<'decision'>;
  asked?: RecordOf<'decision'>;
  /** Answered from the record of an earlier call with the same key. */
  repeated?: RecordOf<'decision'>;
  result?: RecordOf<'result'>;
}

export function describeRecord(record: StoredRecord): string {
  const time = new Date(record.at_ms).toISOString().slice(11, 23);
  const gist = gistOf(record).filter((part) => part !== undefined && part !== '');
  return `${String(record.seq).padStart(6)} ${paint('dim', time)} ${record.kind.padEnd(10)} ${gist.join(' ')}`;
}

type Gist = readonly (string | undefined)[];

function gistOf(record: StoredRecord): Gist {
  switch (record.kind) {
    case 'requested':
      return [plain(record.tool), plain(record.args_summary), faint(`by ${record.actor}, call ${record.call_id}`)];
    case 'decision':
      return [
        verdict(record.outcome),
        `${record.gate}:`,
        record.rule ?? record.code,
        place(record),
        plain(record.message),
      ];
    case 'approval':
      return [record.phase, plain(record.answer), plain(record.answered_by), plain(record.reason)];
    case 'intent':
      return [plain(record.tool), faint(record.effect.effect_id)];
    case 'result':
      return [
        plain(record.tool),
        verdict(record.status),
        `in ${record.duration_ms.toFixed(2)} ms`,
        files(record.files),
      ];
    case 'session':
      return [record.event, record.session_id, faint(`${record.actor}, ${record.client}`)];
    case 'hook':
      return [plain(record.hook), record.action];
    case 'recovery':
      return [record.reason, '→', record.classification, plain(record.call_id), plain(record.note)];
    case 'checkpoint':
      return [`${record.open.length} open calls`];
    case 'child':
      return [plain(record.event), record.child_session_id];
    case 'rotation':
      return rotationParts(record);
    case 'plan':
      return [
        verdict(record.accepted ? 'allow' : 'deny'),
        `${record.steps.length} steps:`,
        record.steps.map((step) => plainText(step.tool)).join(', '),
        faint(`by ${record.actor}, ${record.plan_id}`),
      ];
  }
}

function rotationParts(record: StoredRecord & { readonly kind: 'rotation' }): readonly (string | undefined)[] {
  if (record.event === 'sealed') return [record.event, `${record.claims} claims of keys`];
  if (record.event === 'runs_removed')
    return [`${record.runs_total} external runs removed:`, plain(record.runs.join(', '))];
  const archives = record.event === 'archived' ? record.archive : record.archives.join(', ');
  return [record.event, `${record.records} records, through ${record.through}`, plain(archives)];
}

function plain(text: string | undefined): string | undefined {
  return text === undefined ? undefined : plainText(text);
}

function faint(text: string): string {
  return paint('dim', plainText(text));
}

function verdict(word: string): string {
  return paint(['allow', 'completed'].includes(word) ? 'green' : word === 'ask' ? 'yellow' : 'red', word);
}

function place({ registry }: { readonly registry?: string }): string | undefined {
  return registry === undefined ? undefined : `(${plainText(registry)})`;
}

function files(list: readonly { readonly path: string }[]): string {
  return list.map((file) => plainText(file.path)).join(', ');
}

/** In the order they were requested. Records of calls that began earlier are skipped. */
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

/** When, how it ended, what was asked, and why where it was refused or failed. */
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
