/**
 * Writes the records of the fleet to PostgreSQL, where they are queried and kept for years.
 *
 * A row is known by stream, sequence and its place in the message, so writing it again changes nothing. How far the sink is
 * says the table itself: there is no position elsewhere that could disagree with it. A table that was dropped is filled again from
 * the stream.
 */
import { ToolError } from '@tool-runtime/protocol';
import { Client } from 'pg';
import { STREAMS, untoken } from '../wire/names.ts';
import type { Wire } from '../wire/open-wire.ts';
import { readStream } from '../wire/read-stream.ts';
import { sleep } from '../wire/sleep.ts';
import type { ShippedBatch } from './ship-journal.ts';

export interface SinkOptions {
  readonly wire: Wire;
  /** `postgres://user:password@host/database` */
  readonly url: string;
  /** Ends when all that is there has been written; follows the stream otherwise. */
  readonly once: boolean;
  /** Drops what is there and fills the table again. */
  readonly rebuild: boolean;
  readonly signal: AbortSignal;
  onWritten(progress: { readonly rows: number; readonly seq: number }): void;
  onProblem(error: ToolError): void;
}

const TABLE = `
create table if not exists tool_runtime_records (
  stream     text    not null,
  seq        bigint  not null,
  place      integer not null,
  tenant     text    not null,
  host       text    not null,
  workspace  text    not null,
  journal    text    not null,
  record_seq bigint  not null,
  kind       text    not null,
  call_id    text,
  session_id text,
  at         timestamptz,
  record     jsonb   not null,
  primary key (stream, seq, place)
);
create index if not exists tool_runtime_records_call on tool_runtime_records (call_id);
create index if not exists tool_runtime_records_session on tool_runtime_records (session_id, at);
create unique index if not exists tool_runtime_records_journal
  on tool_runtime_records (tenant, host, workspace, journal, record_seq);
`;

/** One statement for all rows of a message: they come together or not at all. */
const INSERT = `
insert into tool_runtime_records
  (stream, seq, place, tenant, host, workspace, journal, record_seq, kind, call_id, session_id, at, record)
select $1, $2, place - 1, $3, $4, $5, $6, (record->>'seq')::bigint, record->>'kind', record->>'call_id',
       record->>'session_id', to_timestamp((record->>'at_ms')::double precision / 1000), record
from jsonb_array_elements($7::jsonb) with ordinality as batch (record, place)
on conflict do nothing`;

const LOOK_MS = 500;
const RETRY_MS = 2000;

/** Resolves with the number of rows written. A database that is down is waited for, unless it runs once. */
export async function runPostgresSink(options: SinkOptions): Promise<number> {
  const { once, signal } = options;
  let rows = 0;
  let isFresh = options.rebuild;
  while (!signal.aborted) {
    try {
      const client = new Client({ connectionString: options.url });
      // Told by the statement that fails; without a listener it would end the process.
      client.on('error', () => {});
      await client.connect();
      try {
        rows += await writeAll(client, options, isFresh);
        isFresh = false;
        if (once) return rows;
        while (!signal.aborted) {
          await sleep(LOOK_MS, signal);
          rows += await writeAll(client, options, false);
        }
      } finally {
        await client.end().catch(() => undefined);
      }
    } catch (cause) {
      const problem = unavailable(cause);
      if (once) throw problem;
      options.onProblem(problem);
      await sleep(RETRY_MS, signal);
    }
  }
  return rows;
}

async function writeAll(client: Client, { wire, onWritten }: SinkOptions, isFresh: boolean): Promise<number> {
  if (isFresh) await client.query('drop table if exists tool_runtime_records');
  await client.query(TABLE);
  const { rows: found } = await client.query<{ readonly last: string | null }>(
    'select max(seq) as last from tool_runtime_records where stream = $1',
    [STREAMS.records],
  );
  let rows = 0;
  let seq = Number(found[0]?.last ?? 0);
  for await (const message of readStream(wire, STREAMS.records, { from: seq + 1 })) {
    const [, tenant, host, workspace, journal] = message.subject.split('.').map(untoken);
    const { records } = message.json<ShippedBatch>();
    const values = [STREAMS.records, message.seq, tenant, host, workspace, journal, JSON.stringify(records)];
    rows += (await client.query(INSERT, values)).rowCount ?? 0;
    seq = message.seq;
    onWritten({ rows, seq });
  }
  return rows;
}

function unavailable(cause: unknown): ToolError {
  return new ToolError(
    'E_INTERNAL',
    `PostgreSQL does not take records: ${cause instanceof Error ? cause.message : ''}`,
    {
      details: {
        reason: 'sink_unavailable',
        retry: 'retryable',
        next: 'check the address and the rights of its user; the stream keeps the records meanwhile',
      },
      cause,
    },
  );
}
