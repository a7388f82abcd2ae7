/**
 * Rotations by real processes that are killed. This file is also the program they run: started with a role as its
 * argument, it rotates instead of testing.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { JournalStore, StoredRecord } from '../../contracts/journal.ts';
import { type ArchiveDraft, createArchiveFiles } from '../../platform/state/archive-files.ts';
import { openStateFolder } from '../../platform/state/state-folder.ts';
import { createSystemClock } from '../../platform/system-clock.ts';
import { sampleIntent, sampleResult } from '../../testing/sample-records.ts';
import { birthMark, createBlockJournal } from './block-journal.ts';
import { openSqliteJournal } from './journal-sqlite.ts';
import { connect } from './sqlite-schema.ts';
import { createSqliteTables } from './sqlite-tables.ts';

const [, , role, folder = '', parameter = ''] = process.argv;
const MAX_ARCHIVE_LENGTH = 6000;

/** What only looks: being killed there is being killed before the next step that changes something. */
const LOOKS = new Set<string | symbol>(
  ['lastBlock', 'blockAt', 'blocksAfter', 'archives', 'lastArchive', 'checkpointSeq', 'lastTotal', 'open', 'list', 'drafts'], // biome-ignore format: a list
);

if (role === 'die-at') await dieAt(Number(parameter));
else if (role === 'churn') await churn(parameter);
else defineTests();

/** Rotates and prunes, and kills itself before the n-th step, the commits among them. */
async function dieAt(nth: number): Promise<void> {
  const state = openStateFolder(folder);
  const masterKey = state.key();
  const tables = createSqliteTables(
    connect({
      path: state.file('journal.db'),
      durability: 'normal',
      waitMs: 5000,
      birthMark: birthMark(masterKey),
    }),
  );
  let count = 0;
  let isArmed = false;
  const point = (): void => {
    if (isArmed && ++count === nth) process.kill(process.pid, 'SIGKILL');
  };
  const mortal = <T extends object>(port: T): T =>
    new Proxy(port, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function' || LOOKS.has(name)) return member;
        return (...args: unknown[]) => {
          point();
          return Reflect.apply(member, target, args);
        };
      },
    });
  const transaction = <T>(work: () => T): T =>
    tables.transaction(() => {
      const result = work();
      point();
      return result;
    });
  const files = createArchiveFiles(state.path);
  const create = async (): Promise<ArchiveDraft> => mortal(await files.create());
  const store = createBlockJournal(mortal({ ...tables, transaction }), {
    masterKey,
    clock: createSystemClock(),
    archives: mortal({ ...files, create }),
    checkpointEvery: 5000,
    maxArchiveLength: MAX_ARCHIVE_LENGTH,
  });
  isArmed = true;
  await store.rotate({ keepRecords: 10 });
  await store.prune({ keepArchives: 2 });
  isArmed = false;
  await store.close();
  await tell(`done ${count}`);
}

/** Calls that are acknowledged on stdout, with rotations in between. */
async function churn(name: string): Promise<void> {
  const store = openSqliteJournal(openStateFolder(folder), {
    checkpointEvery: 50,
    maxArchiveLength: MAX_ARCHIVE_LENGTH,
  });
  let rotation: Promise<unknown> = Promise.resolve();
  for (let call = 0; ; call++) {
    const callId = `${name}-${call}`;
    await store.append([sampleIntent(callId)]);
    await tell(`intent ${callId}\n`);
    await store.append([sampleResult(callId)]);
    await tell(`result ${callId}\n`);
    if (call % 20 === 19) {
      await rotation;
      rotation = store.rotate({ keepRecords: 15 });
    }
  }
}

function tell(text: string): Promise<unknown> {
  return new Promise((resolve) => process.stdout.write(text, resolve));
}

function start(...parameters: readonly string[]): ChildProcess & { output: string } {
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const parameterList = ['-C', 'tool-runtime-source', import.meta.filename, ...parameters];
  const child = spawn(process.execPath, parameterList, { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
  const started = Object.assign(child, { output: '' });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    started.output += text;
  });
  return started;
}

const textOf = ({ seq, ...record }: StoredRecord) => `${seq} ${JSON.stringify(record)}`;
const filesIn = (state: string) => readdirSync(state).filter((name) => /\.(gz|part)$/.test(name));

/** All there is, checked: one stretch up to the head, the chain whole, the archives too. */
function wholeJournal(store: JournalStore): readonly StoredRecord[] {
  const records = [...store.read({ archived: true })];
  const head = store.head();
  const first = records[0]?.seq ?? 1;
  assert.deepEqual(
    records.map(({ seq }) => seq),
    Array.from({ length: head.seq - first + 1 }, (_, at) => first + at),
  );
  const report = store.verify(head, { archives: true });
  assert.deepEqual([report.ok, report.records], [true, records.length], report.broken?.reason);
  return records;
}

/** Whatever a killed rotation left behind, the next one clears away. */
async function rotateAgain(store: JournalStore, state: string): Promise<void> {
  await store.append([sampleIntent('next'), sampleResult('next')]);
  assert.ok((await store.rotate({ keepRecords: 0 })).records > 0);
  await store.prune({});
  const present = store.verify(undefined, { archives: true }).archives?.filter(({ state: found }) => found === 'ok');
  assert.deepEqual(filesIn(state).sort(), present?.map(({ archive }) => archive).sort());
}

function defineTests(): void {
  const root = mkdtempSync(join(tmpdir(), 'commit-rotation-'));
  after(() => rmSync(root, { recursive: true, force: true }));

  /** Two archives, a call that is open, and enough behind them for two more. */
  async function prepare(): Promise<{ state: string; records: readonly string[] }> {
    const state = join(root, 'prepared');
    const store = openSqliteJournal(openStateFolder(state), { maxArchiveLength: MAX_ARCHIVE_LENGTH });
    for (let call = 0; call < 40; call++) {
      await store.append([sampleIntent(`c${call}`), sampleResult(`c${call}`)]);
      if (call === 8 || call === 16) await store.rotate({ keepRecords: 0 });
    }
    await store.append([sampleIntent('open')]);
    await store.close();
    const again = openSqliteJournal(openStateFolder(state));
    const records = wholeJournal(again).map(textOf);
    // Closing would add a checkpoint if anything had been written.
    await again.close();
    return { state, records };
  }

  test('killed before any of its steps, a rotation leaves the old state or the new one, and loses nothing [S1-41 S1-42]', async () => {
    const { state, records } = await prepare();
    const outcomes = new Map<string, number>();
    let isDone = false;
    const oneRound = async (nth: number): Promise<void> => {
      const copy = join(root, `killed-${nth}`);
      cpSync(state, openStateFolder(copy).path, { recursive: true });
      const child = start('die-at', copy, String(nth));
      const [code, signal] = await once(child, 'close');
      if (child.output.startsWith('done')) isDone = true;
      else assert.deepEqual([code, signal], [null, 'SIGKILL'], child.output);
      const store = openSqliteJournal(openStateFolder(copy));
      const found = wholeJournal(store).map(textOf);
      const { archives = [] } = store.verify(undefined, { archives: true });
      const pruned = archives.filter((archive) => archive.state === 'pruned').at(-1)?.through ?? 0;
      assert.deepEqual(found.slice(0, records.length - pruned), records.slice(pruned));
      assert.deepEqual(
        store.unfinished().map(({ call_id }) => call_id),
        ['open'],
      );
      const outcome = `${archives.length} archives, ${pruned} pruned`;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      await rotateAgain(store, copy);
      wholeJournal(store);
      await store.close();
      rmSync(copy, { recursive: true });
    };
    for (let nth = 1; !isDone; nth += 4) await Promise.all([0, 1, 2, 3].map((more) => oneRound(nth + more)));
    // Points before the first commit, between the commits, after the second, and after what was pruned was marked.
    assert.ok([...outcomes.keys()].length >= 4, [...outcomes.keys()].join('; '));
  });

  test('whatever was acknowledged is in the journal or in an archive after rotating processes are killed [S1-41]', async () => {
    const state = join(root, 'churned');
    const acknowledged = new Set<string>();
    for (let round = 0; round < 6; round++) {
      const children = ['left', 'right'].map((side) => start('churn', state, `${side}${round}`));
      for (const child of children) while (child.output === '') await once(child.stdout ?? child, 'data');
      const stop = performance.now() + 100 + Math.random() * 200;
      const watcher = openSqliteJournal(openStateFolder(state));
      while (performance.now() < stop) {
        const report = watcher.verify(undefined, { archives: true });
        assert.equal(report.ok, true, report.broken?.reason);
        assert.ok(watcher.unfinished().length <= 2 * (round + 1));
        await new Promise((resolve) => setImmediate(resolve));
      }
      await watcher.close();
      for (const child of children) {
        child.kill('SIGKILL');
        await once(child, 'close');
        for (const line of child.output.split('\n').slice(0, -1)) acknowledged.add(line);
      }
      const store = openSqliteJournal(openStateFolder(state));
      const stored = new Set<string>();
      for (const record of wholeJournal(store)) if ('call_id' in record) stored.add(`${record.kind} ${record.call_id}`);
      assert.deepEqual(
        [...acknowledged].filter((line) => !stored.has(line)),
        [],
      );
      // They would keep all that follows from being archived; in life, the next start reconciles them.
      await store.append(store.unfinished().map(({ call_id }) => sampleResult(call_id)));
      await rotateAgain(store, state);
      await store.close();
    }
    assert.ok(filesIn(state).length > 10);
  });
}
