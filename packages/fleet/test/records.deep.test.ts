/** Journals of hosts in the fleet: shipped in order and once, verified by anyone, kept in PostgreSQL. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { createRuntime, type Runtime } from '@tool-runtime/sdk';
import pg from 'pg';
import { runPostgresSink } from '../src/records/postgres-sink.ts';
import { chain, type Shipping, shipJournal } from '../src/records/ship-journal.ts';
import { verifyRecords } from '../src/records/verify-records.ts';
import { recordSubject } from '../src/wire/names.ts';
import { openWire, type Wire } from '../src/wire/open-wire.ts';
import { ensureStreams } from '../src/wire/streams.ts';
import { startFleet, type TestFleet } from './fixtures.ts';
import { startDatabase } from './postgres.ts';

interface Scene {
  readonly fleet: TestFleet;
  /** Of the host. */
  readonly wire: Wire;
  /** Of who reads the records. */
  readonly operator: Wire;
  readonly runtime: Runtime;
  work(calls: number): Promise<void>;
  ship(): Shipping;
}

async function startScene(t: TestContext, count: 1 | 3): Promise<Scene> {
  const fleet = await startFleet(t, { count });
  const file = fleet.file('a');
  const wire = await openWire(file, 'test');
  t.after(() => wire.close());
  const operator = await openWire(fleet.file('operator'), 'operator');
  t.after(() => operator.close());
  await ensureStreams(wire, file);
  const workspace = path.join(fleet.folder, 'shop');
  mkdirSync(workspace);
  writeFileSync(path.join(workspace, 'a.txt'), 'hello\n');
  const runtime = await createRuntime({ workspace, state: path.join(fleet.folder, 'state') });
  t.after(() => runtime.close());
  return {
    fleet,
    wire,
    operator,
    runtime,
    async work(calls) {
      const session = await runtime.openSession();
      for (let at = 0; at < calls; at++) assert.equal((await session.call('file_read', { path: 'a.txt' })).ok, true);
      await session.close();
    },
    ship: () =>
      shipJournal(wire, {
        host: 'a',
        workspace: 'shop',
        source: {
          journalId: runtime.journalId,
          read: (filter) => runtime.records(filter),
          head: () => runtime.head().seq,
        },
        log() {},
      }),
  };
}

async function shipped(shipping: Shipping): Promise<void> {
  while (shipping.state().shipped < shipping.state().head) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe('records of a fleet', () => {
  test('an outbox crosses a dead cluster and restarts: in order, once, and whole', async (t) => {
    const { fleet, operator, runtime, work, ship } = await startScene(t, 3);
    await work(10);
    const first = ship();
    await shipped(first);
    for (const server of fleet.servers.servers) server.kill('SIGKILL');
    await Promise.all(fleet.servers.servers.map((server) => server.ended()));
    // The host goes on: its own journal takes the records.
    await work(20);
    assert.ok(first.state().shipped < first.state().head, 'the cluster was dead');
    await first.finish(AbortSignal.timeout(100));
    const second = ship();
    await Promise.all(fleet.servers.servers.map((server) => server.start()));
    await work(5);
    await shipped(second);
    await second.finish(AbortSignal.timeout(5000));
    const check = await verifyRecords(operator);
    assert.equal(check.ok, true, JSON.stringify(check));
    assert.equal(check.journals.length, 1);
    assert.deepEqual(
      [check.journals[0]?.first, check.journals[0]?.last, check.journals[0]?.records],
      [1, runtime.head().seq, runtime.head().seq],
    );
  });

  test('a hole and changed records are found', async (t) => {
    const { wire, operator, work, ship, runtime } = await startScene(t, 1);
    await work(3);
    const shipping = ship();
    await shipped(shipping);
    await shipping.finish(AbortSignal.timeout(1000));
    assert.equal((await verifyRecords(operator)).ok, true);
    const records = [...runtime.records({ limit: 6 })];
    const publish = async (journal: string, kept: typeof records, tampered = kept): Promise<void> => {
      const digest = chain('sha256:', kept);
      const batch = { first: kept[0]?.seq, last: kept.at(-1)?.seq, before: 'sha256:', digest, records: tampered };
      await wire.js.publish(recordSubject('main', 'a', 'shop', journal), JSON.stringify(batch));
    };
    await publish('with-hole', [...records.slice(0, 2), ...records.slice(4)]);
    await publish('changed', records, [...records.slice(0, 5), { ...records[0], seq: 6 } as (typeof records)[0]]);
    const { ok, journals } = await verifyRecords(operator);
    assert.equal(ok, false);
    assert.deepEqual(journals.find(({ journal }) => journal === 'with-hole')?.holes, [{ after: 2, before: 5 }]);
    assert.match(journals.find(({ journal }) => journal === 'changed')?.broken?.reason ?? '', /not those/);
    assert.equal(journals.find(({ journal }) => journal === runtime.journalId)?.broken, undefined);
  });

  test('PostgreSQL has every record once, also after it was down and after a rebuild', async (t) => {
    const { operator, work, ship, runtime } = await startScene(t, 1);
    const database = await startDatabase(t);
    const shipping = ship();
    await work(10);
    await shipped(shipping);
    const sink = (once: boolean, signal: AbortSignal, rebuild = false) =>
      runPostgresSink({
        wire: operator,
        url: database.url,
        once,
        rebuild,
        signal,
        onWritten() {},
        onProblem: () => problems++,
      });
    let problems = 0;
    const never = new AbortController().signal;
    assert.equal(await sink(true, never), runtime.head().seq);
    assert.equal(await sink(true, never), 0);
    const stop = new AbortController();
    const following = sink(false, stop.signal);
    await database.stop();
    await work(10);
    await shipped(shipping);
    while (problems === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    await database.start();
    const rows = async (): Promise<readonly number[]> => {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      try {
        const found = await client.query('select record_seq from tool_runtime_records order by stream, seq, place');
        return found.rows.map(({ record_seq }) => Number(record_seq));
      } finally {
        await client.end();
      }
    };
    const head = runtime.head().seq;
    while ((await rows()).length < head) await new Promise((resolve) => setTimeout(resolve, 50));
    stop.abort();
    await following;
    const expected = Array.from({ length: head }, (_, at) => at + 1);
    assert.deepEqual(await rows(), expected);
    assert.equal(await sink(true, never, true), head);
    assert.deepEqual(await rows(), expected);
    await shipping.finish(AbortSignal.timeout(1000));
  });
});
