/**
 * Whether a result agrees with the journal about the same run.
 *
 * The journal holds the digest of the result's bytes, so any changed byte is found, even if all digests in the result
 * were adjusted. For a call that a gate refused it holds the refusal.
 */
import { isJsonObject, isToolError, type JsonObject, type JsonValue } from '@tool-runtime/protocol';
import type { RunResult } from '../../contracts/external.ts';
import type {
  ChainHead,
  DecisionRecord,
  JournalRecord,
  ReadFilter,
  RequestedRecord,
  ResultRecord,
  StoredRecord,
  VerifyOptions,
  VerifyReport,
} from '../../contracts/journal.ts';
import { digest } from '../../platform/digest.ts';
import { REDACTED } from '../../redaction/find-values.ts';
import { sameDigest } from '../protocol/digests.ts';
import { WRAPPER_EXIT } from '../protocol/protocol-constants.ts';
import { runDigest } from '../result/new-result.ts';
import { runStart } from './read-run.ts';

export interface JournalOpinion {
  readonly verdict: 'ok' | 'damaged' | 'unknown';
  readonly problems: readonly string[];
}

export interface ReadResult {
  readonly result: RunResult & JsonObject;
  /** Of `result.json`. */
  readonly bytes: Uint8Array;
}

/** A refused run is recorded at once. */
const REFUSAL_MS = 60_000;

export function compareWithJournal(read: ReadResult, journal: RunJournal): JournalOpinion {
  const { result } = read;
  const named = textAt(result['call'], 'call_id');
  const call = journal.callOfRun(result.tool.name, result.run_id) ?? journal.callOf(named);
  if (call === undefined) return unknown(journal, named === '' ? 'the result names no call' : 'no record of its call');
  const problems = call.callId === named ? problemsOf(read, call) : ['it names another call than the journal'];
  if (problems === undefined) return unknown(journal, 'the journal has no digest of the run');
  return { verdict: problems.length === 0 ? 'ok' : 'damaged', problems };
}

function unknown({ brokenAt }: RunJournal, problem: string): JournalOpinion {
  const broken = brokenAt === undefined ? [] : [`the journal is broken at record ${brokenAt}`];
  return { verdict: 'unknown', problems: [problem, ...broken] };
}

/** Undefined when the journal has no record of the run. */
function problemsOf(read: ReadResult, { requested, denied, result }: CallOnRecord): string[] | undefined {
  const session = textAt(read.result['call'], 'session_id');
  const others = [requested, denied, result].filter((record) => record !== undefined && record.session_id !== session);
  const foreign = others.length === 0 ? [] : ['it names another session than the journal'];
  if (result !== undefined) {
    const found = executedProblems(read, result);
    return found === undefined ? undefined : [...foreign, ...found];
  }
  return denied === undefined ? undefined : [...foreign, ...refusedProblems(read.result, denied)];
}

function executedProblems({ result, bytes }: ReadResult, record: ResultRecord): string[] | undefined {
  const run = recordedRun(record);
  if (run === undefined) return undefined;
  const { run_id: runId, run_digest: whole, result_digest: file } = run;
  const hasSucceeded = result.status !== 'failure';
  return [
    ...wrong(result.run_id === runId, 'the journal has another run for its call'),
    ...wrong(result.tool.name === record.tool, 'the journal has another tool for its call'),
    ...wrong(sameDigest(String(whole), result.run_digest ?? ''), 'run_digest is not the one in the journal'),
    ...wrong(sameDigest(String(file), digest(bytes)), 'result.json is not the one in the journal'),
    ...wrong(hasSucceeded === (record.status === 'completed'), `the journal says ${record.status}`),
  ];
}

function refusedProblems(result: RunResult & JsonObject, denied: DecisionRecord): string[] {
  const { name } = result.tool;
  const expected = runDigest({
    tool: { name, version: 'unknown', protocol_version: 1 },
    inputs: {},
    outputs: [],
    status: 'failure',
  });
  const isRefused = ([WRAPPER_EXIT.run_failed, WRAPPER_EXIT.not_found] as readonly number[]).includes(result.exit_code);
  const [error, ...more] = result.errors;
  const isSaid = more.length === 0 && isMessage(error?.message ?? '', denied.message ?? '');
  return [
    ...wrong(runDigest(result) === expected, 'the journal says it was refused, and the result says more'),
    ...wrong(
      result.tool_exit_code === null && isRefused,
      'the journal says it was refused, and the result that it ran',
    ),
    ...wrong(isSaid, 'the refusal is not the one in the journal'),
    ...wrong(Math.abs(runStart(result.run_id) - denied.at_ms) < REFUSAL_MS, 'the journal has another time'),
  ];
}

/** The result hides what the tool would have been given. */
function isMessage(shown: string, recorded: string): boolean {
  return shown === recorded || shown.includes(REDACTED);
}

function wrong(isRight: boolean, problem: string): string[] {
  return isRight ? [] : [problem];
}

function textAt(value: JsonValue | undefined, name: string): string {
  const found = isJsonObject(value) ? value[name] : undefined;
  return typeof found === 'string' ? found : '';
}

/** A runtime is one. */
export interface JournalReader {
  records(filter?: ReadFilter): Iterable<StoredRecord>;
  verify(anchor?: ChainHead, options?: VerifyOptions): VerifyReport;
}

interface CallOnRecord {
  readonly callId: string;
  requested?: RequestedRecord;
  /** The decision that refused it. */
  denied?: DecisionRecord;
  result?: ResultRecord;
}

export interface RunJournal {
  /** First record that does not fit into the chain; nothing from there on counts. */
  readonly brokenAt: number | undefined;
  callOf(callId: string): CallOnRecord | undefined;
  /** The call whose record names this run. */
  callOfRun(tool: string, runId: string): CallOnRecord | undefined;
}

type Kept = RequestedRecord | DecisionRecord | ResultRecord;

/**
 * What the journal holds about the calls of runs, read in one pass and only as far as its chain is intact. Only calls
 * of these tools are kept.
 */
export function readRunJournal(reader: JournalReader, tools: ReadonlySet<string>): RunJournal {
  const brokenAt = brokenRecord(reader);
  const calls = new Map<string, CallOnRecord>();
  const runs = new Map<string, CallOnRecord>();
  for (const record of wholeRecords(reader, brokenAt)) {
    if (!isKept(record) || !concerns(record, { tools, calls })) continue;
    const call = calls.get(record.call_id) ?? { callId: record.call_id };
    calls.set(record.call_id, call);
    note(record, call);
    if (record.kind === 'result') runs.set(`${record.tool}/${recordedRun(record)?.['run_id']}`, call);
  }
  return {
    brokenAt,
    callOf: (callId) => calls.get(callId),
    callOfRun: (tool, runId) => runs.get(`${tool}/${runId}`),
  };
}

/** What the wrapper recorded; undefined for calls that never reached it. */
function recordedRun({ details }: ResultRecord): JsonObject | undefined {
  const run = details?.['run'];
  return isJsonObject(run) ? run : undefined;
}

function brokenRecord(reader: JournalReader): number | undefined {
  const { ok, broken, head } = reader.verify(undefined, { archives: true });
  return ok ? undefined : (broken?.seq ?? head.seq + 1);
}

/** Reading stops at a block that cannot be read; the check has reported where. */
function* wholeRecords(reader: JournalReader, brokenAt = Number.POSITIVE_INFINITY): Generator<StoredRecord> {
  try {
    for (const record of reader.records({ archived: true })) {
      if (record.seq >= brokenAt) return;
      yield record;
    }
  } catch (thrown) {
    if (!isToolError(thrown) || brokenAt === Number.POSITIVE_INFINITY) throw thrown;
  }
}

function isKept(record: JournalRecord): record is Kept {
  return record.kind === 'requested' || record.kind === 'result' || record.kind === 'decision';
}

/** A decision names no tool; its call was asked for before. */
function concerns(
  record: Kept,
  { tools, calls }: { readonly tools: ReadonlySet<string>; readonly calls: ReadonlyMap<string, unknown> },
): boolean {
  return record.kind === 'decision' ? calls.has(record.call_id) : tools.has(record.tool);
}

function note(record: Kept, call: CallOnRecord): void {
  if (record.kind === 'requested') call.requested = record;
  else if (record.kind === 'result') call.result = record;
  else if (record.outcome === 'deny') call.denied = record;
}
