/** What a state folder keeps, and for how long. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import type { Clock } from './contracts/clock.ts';
import type { JournalStore } from './contracts/journal.ts';
import { openSqliteJournal } from './journal/store/journal-sqlite.ts';
import { openSealedArgs } from './platform/state/sealed-args.ts';
import { openStateFolder } from './platform/state/state-folder.ts';
import { defaultRegistry } from './registry/build-registry.ts';
import { applyRetention } from './retention.ts';
import { createRuntime } from './runtime.ts';
import type { RuntimeParts } from './session/compile-session.ts';
import { sampleIntent, sampleResult } from './testing/sample-records.ts';

const root = mkdtempSync(join(tmpdir(), 'tool-runtime-retention-'));
after(() => rmSync(root, { recursive: true, force: true }));

const DAY_MS = 24 * 60 * 60 * 1000;
const NEVER = {
  records_days: 0,
  records_max: 0,
  archives_days: 0,
  answers_days: 0,
  runs_days: 0,
  caches_days: 0,
  caches_max_mib: 0,
};

interface Scene {
  readonly journal: JournalStore;
  readonly state: string;
  later(days: number): void;
  apply(retention?: typeof NEVER): Promise<void>;
  events(): readonly string[];
}

/** 1,202 records of one day, one answer, and two runs of an external tool. */
async function scene(): Promise<Scene> {
  const { path: state } = openStateFolder(mkdtempSync(join(root, 'state-')));
  let now = Date.now();
  const clock: Clock = { now: () => now, monotonic: () => now };
  const journal = openSqliteJournal(openStateFolder(state), { clock });
  for (let call = 0; call < 600; call++) await journal.append([sampleIntent(`c${call}`), sampleResult(`c${call}`)]);
  await journal.claim({ scope: 'idempotency:me', key: 'k', argsHash: 'h', callId: 'k' }, [sampleIntent('k')]);
  await journal.settle('idempotency:me', 'k', { data: 1 }, [sampleResult('k')]);
  after(() => journal.close());
  return {
    journal,
    state,
    later(days) {
      now += days * DAY_MS;
    },
    apply: (retention) => {
      const registry = defaultRegistry();
      const settings = { ...registry, retention: retention ?? registry.retention };
      const changes = { store: { prune: () => ({ removed: 0 }) } } as unknown as RuntimeParts['changes'];
      const sealedArgs = openSealedArgs({
        state,
        key: Buffer.alloc(32),
        clock,
        isKeeping: true,
        maxBytes: 1024,
        report: assert.fail,
      });
      return applyRetention({ parts: { journal, clock, changes, sealedArgs }, registry: settings, state });
    },
    events: () =>
      [...journal.read({ kind: 'rotation' })].map((record) => (record.kind === 'rotation' ? record.event : '')),
  };
}

describe('retention', () => {
  test('moves records after 90 days, deletes archives after a year, each on record [S1-41]', async () => {
    const { journal, later, apply, events } = await scene();
    later(80);
    await apply();
    assert.deepEqual(
      events().filter((event) => event === 'archived'),
      [],
    );
    later(20);
    await apply();
    assert.deepEqual(
      events().filter((event) => event === 'archived'),
      ['archived'],
    );
    assert.equal([...journal.read({ archived: true, kind: 'result' })].length, 601);
    later(400);
    await apply();
    assert.equal(events().at(-1), 'pruned');
    assert.equal([...journal.read({ archived: true, kind: 'result' })].length, 0);
    assert.equal(journal.verify().ok, true);
  });

  test('repeats answers for 30 days, and says when it forgot them [S1-43]', async () => {
    const { journal, later, apply, events } = await scene();
    later(29);
    await apply();
    assert.equal((await journal.lookup('idempotency:me', 'k', 'h')).state, 'done');
    later(2);
    await apply();
    assert.equal((await journal.lookup('idempotency:me', 'k', 'h')).state, 'new');
    assert.deepEqual(events(), ['pruned']);
  });

  test('keeps the journal below so many records, and keeps everything where it is told to [S1-41]', async () => {
    const full = await scene();
    await full.apply({ ...NEVER, records_max: 100 });
    assert.deepEqual(full.events(), ['archived']);
    const kept = await scene();
    kept.later(10_000);
    await kept.apply(NEVER);
    assert.deepEqual(kept.events(), []);
    assert.equal((await kept.journal.lookup('idempotency:me', 'k', 'h')).state, 'done');
  });

  test('is applied when a program ends, once a day [S1-41]', async () => {
    const { journal, state } = await scene();
    await journal.close();
    const workspace = join(root, 'workspace');
    mkdirSync(workspace, { recursive: true });
    const events = async (): Promise<readonly string[]> => {
      const runtime = await createRuntime({ workspace, state, retention: { records_max: 10 } });
      const found = [...runtime.records({ kind: 'rotation' })].map(({ kind }) => kind);
      await runtime.close();
      return found;
    };
    // The first day begins.
    assert.deepEqual([await events(), await events()], [[], []]);
    const stamp = join(state, 'retention.stamp');
    assert.ok(existsSync(stamp));
    utimesSync(stamp, 0, 0);
    assert.deepEqual([await events(), await events()], [[], ['rotation']]);
  });
});
