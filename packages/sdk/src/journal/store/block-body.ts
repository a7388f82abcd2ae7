/**
 * The text of a block and its seal: one line of JSON per record, but one for the four records of a call that only read.
 *
 * Most calls are reads, and their records say much the same four times. A line of a third of the length costs that much
 * less to write, to seal and to keep. Readers get the four records back, equal to those that were written.
 */
import type {
  DecisionRecord,
  IntentRecord,
  JournalRecord,
  RequestedRecord,
  ResultRecord,
} from '../../contracts/journal.ts';
import { createKeyedDigest } from '../../platform/digest.ts';
import type { BlockRow } from './journal-tables.ts';

export type UnsealedBlock = Omit<BlockRow, 'mac'>;
export type Seal = (previousMac: string, block: UnsealedBlock) => string;

export function createSeal(masterKey: Uint8Array): Seal {
  const digest = createKeyedDigest(masterKey, 'tool-runtime journal chain v1');
  return (previousMac, { first_seq, count, at_ms, claims, body }) =>
    digest(`${previousMac}:${first_seq}:${count}:${at_ms}${claims ? ` claims ${claims}` : ''}\n${body}`);
}

/** Exactly what is not the same for every read. */
interface ReadLine
  extends Omit<RequestedRecord, 'kind' | 'idempotency_key' | 'details'>,
    Pick<IntentRecord, 'instance'>,
    Pick<ResultRecord, 'duration_ms' | 'bytes'> {
  readonly kind: typeof READ;
  readonly gate: string;
  readonly code: string;
  /** Milliseconds from `at_ms` to decision, intent and result. */
  readonly after: readonly [number, number, number];
}

const READ = 'read';
/** The kinds of record that may be inside such a line. */
const IN_READ: ReadonlySet<string> = new Set(['requested', 'decision', 'intent', 'result']);
/** How many members the records of a read have that such a line can hold. */
const MEMBERS = { requested: 10, decision: 7, intent: 9, result: 14, intentEffect: 2, resultEffect: 1 } as const;
const RECORDS = 4;

export function bodyOf(records: readonly JournalRecord[]): string {
  let body = '';
  for (let at = 0; at < records.length; ) {
    const read = readAt(records, at);
    const line = JSON.stringify(read ?? records[at]);
    body += body === '' ? line : `\n${line}`;
    at += read === undefined ? 1 : RECORDS;
  }
  return body;
}

/** The records of a block. Throws SyntaxError for a line that is not JSON. */
export function* recordsOf({ body }: Pick<UnsealedBlock, 'body'>): Generator<JournalRecord> {
  for (const line of body.split('\n')) {
    const parsed = JSON.parse(line) as JournalRecord | ReadLine;
    if (parsed?.kind === READ) yield* recordsOfRead(parsed);
    else yield parsed;
  }
}

/** What a body holds somewhere if a record of this kind is in it. */
export function marksOfKind(kind: string): readonly string[] {
  const mark = JSON.stringify(kind);
  return IN_READ.has(kind) ? [mark, JSON.stringify(READ)] : [mark];
}

/** Undefined unless the four records from here on are those of a read, and have nothing that the line cannot hold. */
function readAt(records: readonly JournalRecord[], at: number): ReadLine | undefined {
  const requested = records[at];
  if (requested?.kind !== 'requested' || records.length < at + RECORDS) return undefined;
  const [decision, intent, result] = [records[at + 1], records[at + 2], records[at + 3]];
  if (decision?.kind !== 'decision' || intent?.kind !== 'intent' || result?.kind !== 'result') return undefined;
  if (!isPlain(requested, decision, intent, result)) return undefined;
  const { at_ms } = requested;
  return {
    kind: READ,
    call_id: requested.call_id,
    session_id: requested.session_id,
    at_ms,
    request_id: requested.request_id,
    tool: requested.tool,
    args_hash: requested.args_hash,
    args_summary: requested.args_summary,
    actor: requested.actor,
    client: requested.client,
    gate: decision.gate,
    code: decision.code,
    instance: intent.instance,
    after: [decision.at_ms - at_ms, intent.at_ms - at_ms, result.at_ms - at_ms],
    duration_ms: result.duration_ms,
    bytes: result.bytes,
  };
}

function isPlain(
  requested: RequestedRecord,
  decision: DecisionRecord,
  intent: IntentRecord,
  result: ResultRecord,
): boolean {
  const { call_id, session_id, tool, args_hash } = requested;
  const effectId = `effect.${call_id}`;
  return (
    areWhole(requested.at_ms, decision.at_ms, intent.at_ms, result.at_ms) &&
    decision.call_id === call_id &&
    intent.call_id === call_id &&
    result.call_id === call_id &&
    decision.session_id === session_id &&
    intent.session_id === session_id &&
    result.session_id === session_id &&
    intent.tool === tool &&
    result.tool === tool &&
    intent.args_hash === args_hash &&
    result.args_hash === args_hash &&
    decision.outcome === 'allow' &&
    intent.retry_safe &&
    intent.effect.effect_id === effectId &&
    intent.effect.kind === 'tool_execution' &&
    result.effect.effect_id === effectId &&
    result.status === 'completed' &&
    result.start_ts === requested.at_ms &&
    result.end_ts === result.at_ms &&
    result.files.length === 0 &&
    result.errors.length === 0 &&
    hasMembers(requested, MEMBERS.requested) &&
    hasMembers(decision, MEMBERS.decision) &&
    hasMembers(intent, MEMBERS.intent) &&
    hasMembers(result, MEMBERS.result) &&
    hasMembers(intent.effect, MEMBERS.intentEffect) &&
    hasMembers(result.effect, MEMBERS.resultEffect)
  );
}

/** Differences of other numbers would not lead back to them. */
function areWhole(...times: readonly number[]): boolean {
  return times.every(Number.isSafeInteger);
}

function hasMembers(value: object, count: number): boolean {
  let found = 0;
  for (const _ in value) found += 1;
  return found === count;
}

function* recordsOfRead(line: ReadLine): Generator<JournalRecord> {
  const { call_id, session_id, at_ms, tool, args_hash } = line;
  const [decided, begun, ended] = line.after.map((ms) => at_ms + ms) as [number, number, number];
  const effect_id = `effect.${call_id}`;
  const { request_id, args_summary, actor, client } = line;
  yield { kind: 'requested', call_id, session_id, at_ms, request_id, tool, args_hash, args_summary, actor, client };
  yield { kind: 'decision', call_id, session_id, at_ms: decided, outcome: 'allow', gate: line.gate, code: line.code };
  yield {
    kind: 'intent',
    ...{ call_id, session_id, at_ms: begun, tool, args_hash },
    retry_safe: true,
    instance: line.instance,
    effect: { effect_id, kind: 'tool_execution' },
  };
  yield {
    kind: 'result',
    ...{ call_id, session_id, at_ms: ended, tool, args_hash },
    status: 'completed',
    start_ts: at_ms,
    end_ts: ended,
    duration_ms: line.duration_ms,
    bytes: line.bytes,
    files: [],
    errors: [],
    effect: { effect_id },
  };
}
