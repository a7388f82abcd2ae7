/**
 * Ships the journal of one workspace to the fleet: in order, once, from the first record the fleet does not have.
 *
 * The host's own journal is the outbox, and the fleet's copy says how far it is, so there is no position to keep and none to
 * lose: after any stop the last shipped message is read and the next record follows it. Each message is appended only behind
 * the one before, and carries the digest of the chain so far, so that any client can verify the copy and see a hole.
 */
import { createHash } from 'node:crypto';
import type { StoredRecord } from '@tool-runtime/sdk';
import { compareAndAppend, readLast } from '../wire/compare-and-append.ts';
import { recordSubject, STREAMS } from '../wire/names.ts';
import type { Wire } from '../wire/open-wire.ts';
import { sleep } from '../wire/sleep.ts';

export interface JournalSource {
  /** Tells journals of one host and workspace apart: a state folder that was deleted begins a new one. */
  readonly journalId: string;
  read(filter: { readonly after: number; readonly limit: number; readonly archived: boolean }): Iterable<StoredRecord>;
  head(): number;
}

/** One message of the fleet's copy. */
export interface ShippedBatch {
  readonly first: number;
  readonly last: number;
  /** The chain before and after these records. */
  readonly before: string;
  readonly digest: string;
  readonly records: readonly StoredRecord[];
}

export interface ShipOptions {
  readonly host: string;
  readonly workspace: string;
  readonly source: JournalSource;
  log(event: string, fields: Readonly<Record<string, unknown>>): void;
}

export interface Shipping {
  state(): { readonly workspace: string; readonly journal: string; readonly head: number; readonly shipped: number };
  /** Ships what there is, until the signal; then it has ended. */
  finish(signal: AbortSignal): Promise<void>;
}

const LOOK_MS = 200;
const BATCH_RECORDS = 256;
const BATCH_BYTES = 512 * 1024;
export const CHAIN_START = 'sha256:';

export function shipJournal(wire: Wire, { host, workspace, source, log }: ShipOptions): Shipping {
  const subject = recordSubject(wire.tenant, host, workspace, source.journalId);
  const stop = new AbortController();
  const position = { shipped: 0, seq: 0, digest: CHAIN_START, isKnown: false };
  let isFailing = false;

  async function learn(): Promise<void> {
    const { message } = await readLast(wire, STREAMS.records, subject);
    const last = message?.json<ShippedBatch>();
    Object.assign(position, {
      shipped: last?.last ?? 0,
      seq: message?.seq ?? 0,
      digest: last?.digest ?? CHAIN_START,
      isKnown: true,
    });
  }

  /** True when there may be more. */
  async function shipSome(signal: AbortSignal): Promise<boolean> {
    if (!position.isKnown) await learn();
    const records = nextRecords(source, position.shipped);
    const [first] = records;
    if (first === undefined) return false;
    const batch = batchOf(records, position.digest);
    const { seq: expected } = position;
    const added = await compareAndAppend(wire, {
      stream: STREAMS.records,
      subject,
      body: JSON.stringify(batch),
      expected,
      signal,
    });
    if (added.won) Object.assign(position, { shipped: batch.last, seq: added.seq, digest: batch.digest });
    // Another process ships the same journal, or an earlier attempt had arrived: go on from what is there.
    else position.isKnown = false;
    return true;
  }

  async function shipAll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await shipSome(signal)));
  }

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        await shipAll(stop.signal);
        if (isFailing) log('records_shipped_again', { workspace, shipped: position.shipped });
        isFailing = false;
      } catch (error) {
        position.isKnown = false;
        if (!isFailing && !stop.signal.aborted) log('records_not_shipped', { workspace, error });
        isFailing = true;
      }
      await sleep(LOOK_MS, stop.signal);
    }
  }

  const running = run();
  return {
    state: () => ({ workspace, journal: source.journalId, head: source.head(), shipped: position.shipped }),
    async finish(signal) {
      stop.abort();
      await running;
      position.isKnown = false;
      await shipAll(signal).catch(() => undefined);
    },
  };
}

function nextRecords(source: JournalSource, after: number): readonly StoredRecord[] {
  const records: StoredRecord[] = [];
  let bytes = 0;
  for (const record of source.read({ after, limit: BATCH_RECORDS, archived: true })) {
    bytes += JSON.stringify(record).length;
    if (records.length > 0 && bytes > BATCH_BYTES) break;
    records.push(record);
  }
  return records;
}

function batchOf(records: readonly StoredRecord[], before: string): ShippedBatch {
  const first = records[0]?.seq ?? 0;
  return { first, last: records.at(-1)?.seq ?? first, before, digest: chain(before, records), records };
}

/** The digest of the chain after these records. */
export function chain(before: string, records: readonly StoredRecord[]): string {
  const hash = createHash('sha256').update(before);
  for (const record of records) hash.update('\n').update(JSON.stringify(record));
  return `${CHAIN_START}${hash.digest('hex')}`;
}
