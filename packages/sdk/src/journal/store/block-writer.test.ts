/**
 * Real processes on one state folder. This file is also the program they run: started with a role as its argument, it
 * writes instead of testing.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openStateFolder } from '../../platform/state/state-folder.ts';
import { sampleIntent, sampleResult } from '../../testing/sample-records.ts';
import { openJournalReader } from './journal-reader.ts';
import { openSqliteJournal } from './journal-sqlite.ts';

const [, , role, folder = '', name = ''] = process.argv;

if (role === 'write') await writeMany(1500);
else if (role === 'write-forever') await writeMany(Number.POSITIVE_INFINITY);
else if (role === 'open') await openSqliteJournal(openStateFolder(folder)).close();
else if (role === 'open-as-nobody') await openAsNobody();
else defineTests();

/** Each call is acknowledged on stdout once its records are stored, in the manner of a caller that was told so. */
async function writeMany(calls: number): Promise<void> {
  const store = openSqliteJournal(openStateFolder(folder), { checkpointEvery: 500 });
  for (let call = 0; call < calls; call++) {
    const callId = `${name}-${call}`;
    const claim = { scope: name, key: callId, argsHash: 'h', callId };
    if (call % 5 === 0) await store.claim(claim, [sampleIntent(callId)]);
    else await Promise.all([store.append([sampleIntent(callId)]), store.append([sampleIntent(`${callId}-twin`)])]);
    await tell(`intent ${callId}\n`);
    if (call % 5 === 0) await store.settle(name, callId, { callId }, [sampleResult(callId)]);
    else await store.append([sampleResult(callId), sampleResult(`${callId}-twin`)]);
    await tell(`result ${callId}\n`);
  }
  await store.close();
}

function tell(text: string): Promise<unknown> {
  return new Promise((resolve) => process.stdout.write(text, resolve));
}

/** Permissions do not bind root, so the test gives it up. */
async function openAsNobody(): Promise<void> {
  if (process.geteuid?.() === 0) {
    process.setgid?.(65534);
    process.setuid?.(65534);
  }
  try {
    await openSqliteJournal(openStateFolder(folder)).close();
    await tell('opened');
  } catch (thrown) {
    await tell((thrown as Error).message);
  }
}

function start(startedRole: string, ...parameters: readonly string[]): ChildProcess & { output: string } {
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  const parameterList = ['-C', 'tool-runtime-source', import.meta.filename, startedRole, ...parameters];
  const child = spawn(process.execPath, parameterList, { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
  const started = Object.assign(child, { output: '' });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    started.output += text;
  });
  return started;
}

function defineTests(): void {
  const root = mkdtempSync(join(tmpdir(), 'journal-processes-'));
  after(() => rmSync(root, { recursive: true, force: true }));

  test('two processes that write at once lose nothing and keep one chain [S1-41] (deep)', async () => {
    const state = join(root, 'shared');
    const children = ['left', 'right'].map((side) => start('write', state, side));
    const ended = Promise.all(children.map((child) => once(child, 'close')));
    await once(children[0]?.stdout ?? process, 'data');
    for (let looks = 0; looks < 20; looks++) {
      const reader = openJournalReader(state);
      assert.deepEqual(reader.verify().broken, undefined);
      reader.close();
      await new Promise((resolve) => setImmediate(resolve));
    }
    const exits = await ended;
    assert.deepEqual(exits, [
      [0, null],
      [0, null],
    ]);
    const store = openSqliteJournal(openStateFolder(state));
    const counts = new Map<string, number>();
    let last = 0;
    for (const record of store.read()) {
      assert.equal(record.seq, last + 1);
      last = record.seq;
      counts.set(record.kind, (counts.get(record.kind) ?? 0) + 1);
    }
    // Of 1,500 calls a side, every fifth is alone and the others bring a twin.
    assert.deepEqual([counts.get('intent'), counts.get('result')], [5400, 5400]);
    assert.deepEqual(store.verify(), { ok: true, records: last, head: store.head() });
    assert.deepEqual(store.unfinished(), []);
    await store.close();
  });

  test('whatever was acknowledged is there after the writer is killed, and no record is torn [S1-41] (deep)', async () => {
    const state = join(root, 'killed');
    for (let round = 0; round < 8; round++) {
      const child = start('write-forever', state, `round${round}`);
      while (child.output === '') await once(child.stdout ?? child, 'data');
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 120));
      child.kill('SIGKILL');
      await once(child, 'close');
      const store = openSqliteJournal(openStateFolder(state));
      const stored = new Set<string>();
      for (const record of store.read()) if ('call_id' in record) stored.add(`${record.kind} ${record.call_id}`);
      const acknowledged = child.output.split('\n').slice(0, -1);
      assert.deepEqual(
        acknowledged.filter((line) => !stored.has(line)),
        [],
      );
      assert.equal(store.verify().ok, true);
      // Key and records are one step: a settled key has its result, a pending one its intent and nothing more.
      for (const line of acknowledged.filter((text) => /^result .*-\d*[05]$/.test(text))) {
        const callId = line.slice('result '.length);
        assert.equal((await store.lookup(`round${round}`, callId, 'h')).state, 'done', callId);
      }
      for (const { call_id } of store.unfinished()) {
        const [claim] = store.claimsOf(call_id);
        if (claim !== undefined) assert.equal((await store.lookup(claim.scope, claim.key, 'h')).state, 'pending');
      }
      await store.close();
    }
  });

  test('processes that open a new folder at the same moment agree on one key [S1-41] (deep)', async () => {
    for (let round = 0; round < 3; round++) {
      const state = join(root, `race-${round}`);
      const exits = await Promise.all(Array.from({ length: 5 }, () => once(start('open', state), 'close')));
      assert.deepEqual(exits, Array(5).fill([0, null]));
      const store = openSqliteJournal(openStateFolder(state));
      await store.append([sampleIntent('a')]);
      assert.equal(store.verify().ok, true);
      await store.close();
    }
  });

  test('a folder that cannot be written is named as such [S1-41]', async () => {
    const openIn = async (state: string, mode: number): Promise<string> => {
      openStateFolder(state);
      chmodSync(state, mode);
      if (process.geteuid?.() === 0) chownSync(state, 65534, 65534);
      const child = start('open-as-nobody', state);
      await once(child, 'close');
      return child.output;
    };
    chmodSync(root, 0o711);
    assert.equal(await openIn(join(root, 'writable'), 0o700), 'opened');
    assert.equal(await openIn(join(root, 'read-only'), 0o500), 'State folder cannot be used: EACCES');
  });
}
