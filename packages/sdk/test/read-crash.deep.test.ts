/**
 * Reads are recorded in one flush, before their answers. This file is also the program that is killed: started with a
 * role as its argument, it reads instead of testing.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { createRuntime } from '../src/index.ts';
import { createSeal } from '../src/journal/store/block-body.ts';
import { verifyBlocks } from '../src/journal/store/block-chain.ts';
import { openJournalReader } from '../src/journal/store/journal-reader.ts';
import { openSqliteJournal } from '../src/journal/store/journal-sqlite.ts';
import { createSqliteTables } from '../src/journal/store/sqlite-tables.ts';
import { openStateFolder } from '../src/platform/state/state-folder.ts';
import { sampleIntent, sampleResult } from '../src/testing/sample-records.ts';

const [, , role, folder = '', name = '', width = '1'] = process.argv;
const KINDS = ['requested', 'decision', 'intent', 'result'];

if (role === 'read-forever') await readForever();
else defineTests();

/** Says on stdout which reads were answered. */
async function readForever(): Promise<void> {
  const runtime = await createRuntime({ workspace: join(folder, 'work'), state: join(folder, 'state') });
  const session = await runtime.openSession({ actor: 'reader', client: 'read-crash' });
  for (let round = 0; ; round++) {
    const ids = Array.from({ length: Number(width) }, (_, at) => `${name}-${round}-${at}`);
    await Promise.all(
      ids.map(async (requestId) => {
        const { ok } = await session.call('file_read', { path: 'a.txt' }, { requestId });
        if (ok) await new Promise((resolve) => process.stdout.write(`${requestId}\n`, resolve));
      }),
    );
  }
}

function defineTests(): void {
  const root = mkdtempSync(join(tmpdir(), 'read-crash-'));
  after(() => rmSync(root, { recursive: true, force: true }));

  for (const inFlight of [1, 32]) {
    test(`a read that was answered is in the journal after a kill, ${inFlight} in flight [S1-40 S1-41]`, async () => {
      const scene = join(root, `killed-${inFlight}`);
      mkdirSync(join(scene, 'work'), { recursive: true });
      writeFileSync(join(scene, 'work/a.txt'), 'content');
      for (let round = 0; round < 5; round++) {
        const answered = await readUntilKilled(scene, `round${round}`, inFlight);
        const reader = openJournalReader(join(scene, 'state'));
        const kinds = new Map<string, string[]>();
        const calls = new Map<string, string>();
        for (const record of reader.records()) {
          if (record.kind === 'requested') calls.set(record.request_id, record.call_id);
          if ('call_id' in record && record.call_id !== undefined)
            kinds.set(record.call_id, [...(kinds.get(record.call_id) ?? []), record.kind]);
        }
        assert.equal(reader.verify().ok, true);
        reader.close();
        assert.ok(answered.length > 0);
        for (const id of answered) assert.deepEqual(kinds.get(calls.get(id) ?? ''), KINDS, id);
        // Written in one step: none is there in part.
        for (const [id, found] of kinds) assert.deepEqual(found, KINDS, id);
      }
    });
  }

  test('a log that ends anywhere in its last block, or is changed there, ends before that block [S1-41]', async () => {
    const state = join(root, 'torn');
    const store = openSqliteJournal(openStateFolder(state));
    for (let call = 0; call < 5; call++)
      await store.append([sampleIntent(`call-${call}`), sampleResult(`call-${call}`)]);
    const wal = join(state, 'journal.db-wal');
    const start = readFileSync(wal).length;
    const before = store.head();
    await store.append([sampleIntent('last'), sampleResult('last')]);
    const head = store.head();
    const whole = join(root, 'whole');
    cpSync(state, whole, { recursive: true });
    await store.close();

    const log = readFileSync(join(whole, 'journal.db-wal'));
    assert.ok(log.length - start > 1000, `${log.length - start} bytes`);
    const seal = createSeal(readFileSync(join(whole, 'journal.key')));
    const look = (content: Buffer) => {
      writeFileSync(join(whole, 'journal.db-wal'), content);
      rmSync(join(whole, 'journal.db-shm'), { force: true });
      const database = new DatabaseSync(join(whole, 'journal.db'), { readOnly: true });
      const report = verifyBlocks(createSqliteTables(database).blocksAfter(0, 100), seal);
      database.close();
      return report;
    };
    assert.deepEqual(look(log).head, head);
    for (let length = start; length < log.length; length++) {
      const cut = look(log.subarray(0, length));
      assert.deepEqual([cut.ok, cut.head], [true, before], `cut at ${length - start}`);
      const changed = Buffer.from(log);
      changed[length] = (changed[length] ?? 0) ^ 0x41;
      const found = look(changed);
      if (found.ok) assert.deepEqual(found.head, before, `changed at ${length - start}`);
    }
    // Writing goes on from where it was cut.
    for (let length = start; length < log.length; length += 997) {
      const torn = join(root, `continued-${length}`);
      cpSync(whole, torn, { recursive: true });
      chmodSync(torn, 0o700);
      rmSync(join(torn, 'journal.db-shm'), { force: true });
      writeFileSync(join(torn, 'journal.db-wal'), log.subarray(0, length));
      const reader = openJournalReader(torn);
      assert.deepEqual([reader.verify().ok, reader.head()], [true, before]);
      reader.close();
      const again = openSqliteJournal(openStateFolder(torn));
      assert.deepEqual(again.head(), before);
      await again.append([sampleIntent('next'), sampleResult('next')]);
      assert.equal(again.verify(before).ok, true);
      await again.close();
    }
  });
}

/** Ids of the reads that were answered. */
async function readUntilKilled(scene: string, round: string, inFlight: number): Promise<readonly string[]> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const parameters = [
    '-C',
    'tool-runtime-source',
    import.meta.filename,
    'read-forever',
    scene,
    round,
    String(inFlight),
  ];
  const child = spawn(process.execPath, parameters, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  while (output === '') await once(child.stdout, 'data');
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 100));
  child.kill('SIGKILL');
  await once(child, 'close');
  return output.split('\n').slice(0, -1);
}
