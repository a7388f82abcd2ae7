import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { type ChainHead, createRuntime } from '@tool-runtime/sdk';
import { createScratch, jsonLines, runCli, type Scratch, startCli } from '../../../test/run-cli.ts';

interface Journal {
  readonly head: ChainHead;
  readonly callIds: readonly string[];
  readonly sessionId: string;
}

/** Calls file_read so many times, and once a tool that does not exist. */
async function fillJournal(scratch: Scratch, calls: number): Promise<Journal> {
  scratch.write('a', 'text');
  const runtime = await createRuntime({ workspace: scratch.workspace, state: scratch.state });
  const session = await runtime.openSession();
  for (let index = 0; index < calls; index++)
    await session.call('file_read', { path: 'a' }, { requestId: `r${index}` });
  await session.call('no_such_tool', {}, { requestId: 'refused' });
  const requested = [...runtime.records({ kind: 'requested' })];
  await runtime.close();
  return {
    head: await headOf(scratch),
    callIds: requested.flatMap((record) => (record.kind === 'requested' ? [record.call_id] : [])),
    sessionId: session.id,
  };
}

async function headOf(scratch: Scratch): Promise<ChainHead> {
  const { head } = JSON.parse((await audit(scratch, 'verify', '--json')).stdout) as { head: ChainHead };
  return head;
}

function audit(scratch: Scratch, ...args: string[]) {
  return runCli(['audit', ...args, ...scratch.options]);
}

function tamper(scratch: Scratch, statement: string): void {
  const database = new DatabaseSync(join(scratch.state, 'journal.db'));
  database.exec(statement);
  database.close();
}

describe('tool-runtime audit list', () => {
  test('shows the newest records, oldest first [S1-41] (deep)', async () => {
    using scratch = createScratch();
    const { head } = await fillJournal(scratch, 3);
    const all = jsonLines((await audit(scratch, 'list', '--json', '--after', '0')).stdout);
    assert.deepEqual(
      all.map((record) => record['seq']),
      Array.from({ length: head.seq }, (_, index) => index + 1),
    );
    const newest = jsonLines((await audit(scratch, 'list', '--json', '-n', '2')).stdout);
    assert.equal(newest.length, 2);
    assert.ok(Number(newest[1]?.['seq']) >= head.seq);
    assert.equal(Number(newest[1]?.['seq']) - Number(newest[0]?.['seq']), 1);
  });

  test('filters by kind, session and place (deep)', async () => {
    using scratch = createScratch();
    const { sessionId } = await fillJournal(scratch, 3);
    const list = async (...args: string[]) => jsonLines((await audit(scratch, 'list', '--json', ...args)).stdout);
    const requested = await list('--kind', 'requested');
    assert.deepEqual(
      requested.map((record) => record['request_id']),
      ['r0', 'r1', 'r2', 'refused'],
    );
    assert.deepEqual(await list('--kind', 'requested', '--limit', '1'), requested.slice(-1));
    assert.deepEqual(
      await list('--kind', 'requested', '--after', String(requested[0]?.['seq']), '-n', '2'),
      requested.slice(1, 3),
    );
    assert.ok((await list('--session', sessionId)).every((record) => record['session_id'] === sessionId));
    assert.deepEqual(await list('--session', 'other'), []);
  });

  test('shows one line for each call to people, the newest ones', async () => {
    using scratch = createScratch();
    await fillJournal(scratch, 3);
    const { code, stdout, stderr } = await audit(scratch, 'list', '-n', '2');
    assert.deepEqual([code, stderr], [0, '']);
    const [read = '', refused = '', ...others] = stdout.trimEnd().split('\n');
    assert.match(read, /^ +\d+ \d\d:\d\d:\d\d ok {8}file_read path="a" .* \d+ ms$/);
    assert.match(refused, /^ +\d+ \d\d:\d\d:\d\d refused {3}no_such_tool .* – runtime: .*no_such_tool$/);
    assert.deepEqual(others, []);
  });

  test('shows one line for each record to people who ask for them', async () => {
    using scratch = createScratch();
    await fillJournal(scratch, 1);
    const { code, stdout, stderr } = await audit(scratch, 'list', '--records');
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^ +\d+ \d\d:\d\d:\d\d\.\d{3} requested {2}file_read path="a" .*by local, call /m);
    assert.match(stdout, /deny .*unknown_tool.* no_such_tool$/m);
  });

  for (const args of [
    ['--limit', '0'],
    ['--limit', 'x'],
    ['--after', '-1'],
    ['--kind', 'nope'],
  ]) {
    test(`ends with 2 after ${args.join(' ')}`, async () => {
      using scratch = createScratch();
      const { code, stdout, stderr } = await audit(scratch, 'list', ...args);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, new RegExp(args[0] ?? ''));
    });
  }
});

describe('tool-runtime audit show', () => {
  test('shows every record of a call by call id or request id, and one by its number [S1-41] (deep)', async () => {
    using scratch = createScratch();
    const { callIds } = await fillJournal(scratch, 2);
    const byCall = jsonLines((await audit(scratch, 'show', '--json', callIds[1] ?? '')).stdout);
    assert.deepEqual([...new Set(byCall.map((record) => record['call_id']))], [callIds[1]]);
    assert.deepEqual([byCall[0]?.['kind'], byCall.at(-1)?.['kind']], ['requested', 'result']);
    assert.deepEqual(jsonLines((await audit(scratch, 'show', '--json', 'r1')).stdout), byCall);
    const seq = String(byCall[0]?.['seq']);
    assert.deepEqual(JSON.parse((await audit(scratch, 'show', seq)).stdout), byCall[0]);
  });

  test('ends with 1 when nothing is on record under that id (deep)', async () => {
    using scratch = createScratch();
    await fillJournal(scratch, 1);
    for (const id of ['nope', '0', '999999']) {
      const { code, stdout, stderr } = await audit(scratch, 'show', id);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, new RegExp(`^error No such call or record: ${id}\n`));
    }
  });
});

describe('tool-runtime audit tail', () => {
  test('stops at the last record when told not to follow (deep)', async () => {
    using scratch = createScratch();
    await fillJournal(scratch, 1);
    const { code, stdout } = await audit(scratch, 'tail', '--no-follow', '-n', '3', '--json');
    assert.equal(code, 0);
    assert.equal(jsonLines(stdout).length, 3);
    assert.equal((await audit(scratch, 'tail', '-n', '-1')).code, 2);
  });

  test('shows what other processes add, until it is interrupted', async () => {
    using scratch = createScratch();
    await fillJournal(scratch, 1);
    const child = startCli(['audit', 'tail', '-n', '0', '--json', ...scratch.options]);
    const closed = once(child, 'close');
    const runtime = await createRuntime({ workspace: scratch.workspace, state: scratch.state });
    const session = await runtime.openSession();
    let seen = '';
    let isInterrupted = false;
    const reading = (async () => {
      for await (const chunk of child.stdout) {
        seen += String(chunk);
        if (isInterrupted || !seen.includes('"request_id":"late')) continue;
        isInterrupted = child.kill('SIGINT');
      }
    })();
    // The child may start later than the first call: calls go on until it has seen one.
    for (let index = 0; child.exitCode === null && child.signalCode === null; index++) {
      await session.call('file_read', { path: 'a' }, { requestId: `late${index}` });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await reading;
    await runtime.close();
    assert.deepEqual(await closed, [0, null]);
  });

  test('ends when its reader is gone (deep)', async () => {
    using scratch = createScratch();
    await fillJournal(scratch, 1);
    const child = startCli(['audit', 'tail', '-n', '1', '--json', ...scratch.options]);
    const closed = once(child, 'close');
    let complaint = '';
    child.stderr.on('data', (chunk) => {
      complaint += String(chunk);
    });
    await once(child.stdout, 'data');
    child.stdout.destroy();
    const runtime = await createRuntime({ workspace: scratch.workspace, state: scratch.state });
    await runtime.openSession();
    assert.deepEqual([await closed, complaint], [[0, null], '']);
    await runtime.close();
  });
});

describe('tool-runtime audit verify', () => {
  test('confirms a whole journal and prints the head to keep [S1-41] (deep)', async () => {
    using scratch = createScratch();
    const { head } = await fillJournal(scratch, 2);
    const { code, stdout } = await audit(scratch, 'verify', '--anchor', `${head.seq}:${head.mac}`);
    assert.equal(code, 0);
    assert.match(stdout, /^ok \d+ records, head \d+:[0-9a-f]{64}\nverify cannot detect that records newer than .*\n$/);
  });

  test('ends with 1 and names the record after one was changed [S1-41] (deep)', async () => {
    using scratch = createScratch();
    await fillJournal(scratch, 2);
    tamper(scratch, `UPDATE block SET body = replace(body, 'file_read', 'file_reed') WHERE first_seq = 2`);
    const { code, stdout } = await audit(scratch, 'verify');
    assert.equal(code, 1);
    assert.match(stdout, /^broken at record 2: /);
    const json = JSON.parse((await audit(scratch, 'verify', '--json')).stdout);
    assert.deepEqual([json.ok, json.broken.seq], [false, 2]);
  });

  test('ends with 1 after a record in the middle was deleted [S1-41]', async () => {
    using scratch = createScratch();
    await fillJournal(scratch, 2);
    tamper(scratch, 'DELETE FROM block WHERE first_seq = 2');
    const { code, stdout } = await audit(scratch, 'verify');
    assert.equal(code, 1);
    assert.match(stdout, /^broken at record /);
  });

  test('ends with 1 when the chain no longer holds a head that was kept elsewhere [S1-41] (deep)', async () => {
    using scratch = createScratch();
    const { head } = await fillJournal(scratch, 3);
    const anchor = `${head.seq}:${head.mac}`;
    assert.equal((await audit(scratch, 'verify', '--anchor', anchor)).code, 0);
    tamper(scratch, `DELETE FROM block WHERE first_seq > 4`);
    const { code, stdout } = await audit(scratch, 'verify', '--anchor', anchor);
    assert.equal(code, 1);
    assert.match(stdout, /^broken at record /);
  });

  test('exits with 2 for an invalid anchor (deep)', async () => {
    using scratch = createScratch();
    for (const anchor of ['12', 'x:ab', '1:XYZ', ':', '1:']) {
      const { code, stderr } = await audit(scratch, 'verify', '--anchor', anchor);
      assert.equal(code, 2);
      assert.match(stderr, /^error Not an anchor: /);
    }
  });
});

describe('tool-runtime audit export', () => {
  test('writes every record and the head last [S1-41] (deep)', async () => {
    using scratch = createScratch();
    await fillJournal(scratch, 3);
    const { code, stdout } = await audit(scratch, 'export');
    assert.equal(code, 0);
    const lines = jsonLines(stdout);
    const head = lines.pop();
    assert.deepEqual(Object.keys(head ?? {}), ['kind', 'seq', 'mac']);
    assert.deepEqual(
      lines.map((record) => record['seq']),
      Array.from({ length: Number(head?.['seq']) }, (_, index) => index + 1),
    );
    assert.equal((await audit(scratch, 'verify', '--anchor', `${head?.['seq']}:${head?.['mac']}`)).code, 0);
  });

  test('ends without complaint when its reader has seen enough (deep)', async () => {
    using scratch = createScratch();
    await fillJournal(scratch, 400);
    const child = startCli(['audit', 'export', ...scratch.options]);
    const closed = once(child, 'close');
    let complaint = '';
    child.stderr.on('data', (chunk) => {
      complaint += String(chunk);
    });
    await once(child.stdout, 'data');
    child.stdout.destroy();
    assert.deepEqual([await closed, complaint], [[0, null], '']);
  });
});

describe('tool-runtime audit rotate and prune (deep)', () => {
  const json = async (scratch: Scratch, ...args: string[]) =>
    JSON.parse((await audit(scratch, ...args, '--json')).stdout);
  const seqs = async (scratch: Scratch, ...args: string[]) =>
    jsonLines((await audit(scratch, 'list', '--json', '--after', '0', '-n', '1000', ...args)).stdout).map(
      ({ seq }) => seq,
    );

  test('moves old records into an archive that list, show, export and verify read on request [S1-41] (deep)', async () => {
    using scratch = createScratch();
    const { head, callIds } = await fillJournal(scratch, 3);
    const report = await json(scratch, 'rotate', '--keep-records', '4');
    assert.deepEqual([report.archives.length, report.through, report.records > 5], [1, report.records, true]);
    const all = await seqs(scratch, '--archived');
    assert.deepEqual(
      all,
      Array.from({ length: all.length }, (_, index) => index + 1),
    );
    assert.deepEqual(await seqs(scratch), all.slice(report.through));

    const [callId = ''] = callIds;
    const hidden = await audit(scratch, 'show', callId);
    assert.deepEqual([hidden.code, hidden.stdout], [1, '']);
    assert.match(hidden.stderr, /add --archived/);
    assert.equal((await audit(scratch, 'show', '1')).code, 1);
    const shown = jsonLines((await audit(scratch, 'show', callId, '--archived', '--json')).stdout);
    assert.deepEqual([shown[0]?.['kind'], shown.at(-1)?.['kind']], ['requested', 'result']);
    assert.deepEqual(jsonLines((await audit(scratch, 'show', 'r0', '--archived', '--json')).stdout), shown);

    const exported = jsonLines((await audit(scratch, 'export', '--archived')).stdout).slice(0, -1);
    assert.deepEqual(
      exported.map(({ seq }) => seq),
      all,
    );
    const verified = await audit(scratch, 'verify', '--archives', '--anchor', `${head.seq}:${head.mac}`);
    assert.equal(verified.code, 0);
    assert.match(
      verified.stdout,
      /^ok journal-1-\d+-[0-9a-f]{16}\.jsonl\.gz\nok \d+ records, archived through \d+, head /,
    );
  });

  test('says when there is nothing to move, by default what is younger than 30 days (deep)', async () => {
    using scratch = createScratch();
    await fillJournal(scratch, 1);
    for (const args of [[], ['--keep-days', '1'], ['--keep-records', '1000']]) {
      const { code, stdout, stderr } = await audit(scratch, 'rotate', ...args);
      assert.deepEqual([code, stdout, stderr], [0, 'nothing to move\n', '']);
    }
    const { stdout } = await audit(scratch, 'rotate', '--keep-days', '0');
    assert.match(stdout, /^\d+ records moved, through \d+: journal-1-\S+\.jsonl\.gz \(\d+ bytes\)\n$/);
  });

  test('deletes archives oldest first, and verify tells them from broken ones [S1-41] (deep)', async () => {
    using scratch = createScratch();
    await fillJournal(scratch, 1);
    const [first] = (await json(scratch, 'rotate', '--keep-records', '0')).archives;
    await fillJournal(scratch, 1);
    const [second] = (await json(scratch, 'rotate', '--keep-records', '0')).archives;
    assert.match((await audit(scratch, 'prune', '--keep-days', '1')).stdout, /^\d+ ended processes forgotten\n$/);
    const { stdout } = await audit(scratch, 'prune', '--keep-archives', '1');
    assert.match(
      stdout,
      new RegExp(`^1 archives deleted \\(\\d+ records\\), \\d+ ended processes forgotten: ${first}\n$`),
    );
    const { ok, archives } = await json(scratch, 'verify', '--archives');
    assert.deepEqual(
      [ok, archives.map((entry: { archive: string; state: string }) => [entry.archive, entry.state])],
      [true, [[first, 'pruned'], [second, 'ok']]], // biome-ignore format: pairs
    );
    rmSync(join(scratch.state, second));
    const missing = await audit(scratch, 'verify', '--archives');
    assert.equal(missing.code, 1);
    assert.match(missing.stdout, new RegExp(`^missing ${second}$`, 'm'));
    assert.match(missing.stdout, new RegExp(`^broken at record \\d+: archive ${second} is missing`, 'm'));
    const quick = await audit(scratch, 'verify');
    assert.equal(quick.code, 1);
    assert.match(quick.stdout, new RegExp(`archive ${second} is missing`));
    const list = await audit(scratch, 'list', '--kind', 'rotation', '--archived');
    assert.match(list.stdout, new RegExp(` rotation +pruned \\d+ records, through \\d+ ${first}$`, 'm'));
  });

  test('verify ends with 1 after an archive was changed or the base moved [S1-41] (deep)', async () => {
    using scratch = createScratch();
    await fillJournal(scratch, 1);
    const [name] = (await json(scratch, 'rotate', '--keep-records', '0')).archives;
    writeFileSync(join(scratch.state, name), 'garbage');
    const changed = await audit(scratch, 'verify', '--archives');
    assert.equal(changed.code, 1);
    assert.match(changed.stdout, new RegExp(`^broken at record 1: archive ${name}: `, 'm'));
    assert.equal((await audit(scratch, 'verify')).code, 0);
    tamper(scratch, 'UPDATE archive SET through = through - 1');
    const moved = await audit(scratch, 'verify');
    assert.equal(moved.code, 1);
    assert.match(moved.stdout, /^broken at record 1: base forged: /);
  });

  for (const args of [
    ['rotate', '--keep-days', '1', '--keep-records', '1'],
    ['rotate', '--keep-days', 'x'],
    ['prune'],
    ['prune', '--keep-archives', '-1'],
  ]) {
    test(`ends with 2 after ${args.join(' ')}`, async () => {
      using scratch = createScratch();
      const { code, stdout, stderr } = await audit(scratch, ...args);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /^error /);
    });
  }
});
