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
    const batch = nextBatch(source, position);
    if (batch === undefined) return false;
    const { seq: expected } = position;
    const added = await compareAndAppend(wire, {
      stream: STREAMS.records,
      subject,
      body: batch.text,
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

interface NextBatch extends Pick<ShippedBatch, 'last' | 'digest'> {
  readonly text: string;
}

/** Each record becomes text once: for the size, for the digest and for the message. */
function nextBatch(
  source: JournalSource,
  { shipped, digest: before }: { readonly shipped: number; readonly digest: string },
): NextBatch | undefined {
  const texts: string[] = [];
  let [first, last, bytes] = [0, 0, 0];
  for (const record of source.read({ after: shipped, limit: BATCH_RECORDS, archived: true })) {
    const text = JSON.stringify(record);
    bytes += Buffer.byteLength(text);
    if (texts.length > 0 && bytes > BATCH_BYTES) break;
    if (texts.length === 0) first = record.seq;
    last = record.seq;
    texts.push(text);
  }
  if (texts.length === 0) return undefined;
  const digest = chainOf(before, texts);
  const about = JSON.stringify({ first, last, before, digest } satisfies Omit<ShippedBatch, 'records'>);
  return { last, digest, text: `${about.slice(0, -1)},"records":[${texts.join(',')}]}` };
}

/** The digest of the chain after these records. */
export function chain(before: string, records: readonly StoredRecord[]): string {
  return chainOf(
    before,
    records.map((record) => JSON.stringify(record)),
  );
}

function chainOf(before: string, texts: readonly string[]): string {
  const hash = createHash('sha256').update(before);
  for (const text of texts) hash.update('\n').update(text);
  return `${CHAIN_START}${hash.digest('hex')}`;
}
