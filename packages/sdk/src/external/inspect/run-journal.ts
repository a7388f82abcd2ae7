/** What the journal holds about the calls behind runs, read in one pass and only as far as its chain is whole. */
import { isJsonObject, isToolError, type JsonObject } from '@tool-runtime/protocol';
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

/** A runtime is one. */
export interface JournalReader {
  records(filter?: ReadFilter): Iterable<StoredRecord>;
  verify(anchor?: ChainHead, options?: VerifyOptions): VerifyReport;
}

export interface CallOnRecord {
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

/** Only calls of these tools are kept. */
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

/** What the wrapper put on record; undefined for calls that never came to it. */
export function recordedRun({ details }: ResultRecord): JsonObject | undefined {
  const run = details?.['run'];
  return isJsonObject(run) ? run : undefined;
}

function brokenRecord(reader: JournalReader): number | undefined {
  const { ok, broken, head } = reader.verify(undefined, { archives: true });
  return ok ? undefined : (broken?.seq ?? head.seq + 1);
}

/** A block that cannot be read ends the reading: the check has said where. */
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
