/** Verifies the copies of all journals in the fleet. Needs no key: the chain of a copy is public, its order is the stream's. */
import { STREAMS, untoken } from '../wire/names.ts';
import type { Wire } from '../wire/open-wire.ts';
import { readStream } from '../wire/read-stream.ts';
import { CHAIN_START, chain, type ShippedBatch } from './ship-journal.ts';

export interface JournalCheck {
  readonly host: string;
  readonly workspace: string;
  readonly journal: string;
  readonly records: number;
  /** The first and the last record of the copy. */
  readonly first: number;
  readonly last: number;
  /** Records that are missing in between, as ranges. */
  readonly holes: readonly { readonly after: number; readonly before: number }[];
  /** The first message that does not fit. */
  readonly broken?: { readonly seq: number; readonly reason: string };
}

export interface FleetCheck {
  readonly ok: boolean;
  readonly stream: string;
  /** Messages that were read, and those that the stream says were deleted. */
  readonly messages: number;
  readonly deleted: number;
  readonly journals: readonly JournalCheck[];
}

interface OpenCheck {
  readonly host: string;
  readonly workspace: string;
  readonly journal: string;
  records: number;
  first: number;
  last: number;
  digest: string;
  readonly holes: { readonly after: number; readonly before: number }[];
  broken?: { readonly seq: number; readonly reason: string };
}

export async function verifyRecords(wire: Wire): Promise<FleetCheck> {
  const checks = new Map<string, OpenCheck>();
  let messages = 0;
  for await (const message of readStream(wire, STREAMS.records)) {
    messages += 1;
    const check = checks.get(message.subject) ?? begin(message.subject);
    checks.set(message.subject, check);
    if (check.broken !== undefined) continue;
    const reason = judge(check, message.json<ShippedBatch>());
    if (reason !== undefined) check.broken = { seq: message.seq, reason };
  }
  const { state } = await wire.jsm.streams.info(STREAMS.records);
  const journals = [...checks.values()].map(({ digest: _, ...check }) => check);
  const deleted = state.num_deleted ?? 0;
  const isWhole = journals.every(({ broken, holes }) => broken === undefined && holes.length === 0);
  return { ok: isWhole && deleted === 0, stream: STREAMS.records, messages, deleted, journals };
}

function begin(subject: string): OpenCheck {
  const [, , host = '', workspace = '', journal = ''] = subject.split('.').map(untoken);
  return { host, workspace, journal, records: 0, first: 0, last: 0, digest: CHAIN_START, holes: [] };
}

/** Why the batch does not fit, if it does not. */
function judge(check: OpenCheck, batch: ShippedBatch): string | undefined {
  const { records, before, digest } = batch;
  const isFirst = check.records === 0;
  if (!isFirst && before !== check.digest) return 'it does not follow the message before it';
  if (chain(before, records) !== digest) return 'its records are not those it was shipped with';
  let last = isFirst ? (records[0]?.seq ?? 1) - 1 : check.last;
  if (isFirst) check.first = last + 1;
  for (const { seq } of records) {
    if (seq <= last) return `record ${seq} comes after record ${last}`;
    if (seq !== last + 1) check.holes.push({ after: last, before: seq });
    last = seq;
  }
  check.records += records.length;
  check.last = last;
  check.digest = digest;
  return undefined;
}
