import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import type { JsonObject, ToolResponse } from '@tool-runtime/protocol';
import { crash, type GivenUp } from '../../test/given-up-call.ts';
import { openOn, type Point, retry, retryIn } from '../../test/keyed-crash.ts';
import { makeLegacy } from '../../test/legacy-journal.ts';

const APPEND = { path: 'a.txt', content: 'more\n', append: true };

/** A call on a workspace with one file, lost at the point. */
async function lost(
  t: TestContext,
  point: Point,
  { tool = 'file_write', args = APPEND as JsonObject, stillAlive = false } = {},
): Promise<GivenUp & { read(): string; write(text: string): void }> {
  const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-replay-'));
  t.after(() => rmSync(scratch, { recursive: true, force: true }));
  const workspace = join(scratch, 'work');
  mkdirSync(workspace);
  const file = join(workspace, 'a.txt');
  writeFileSync(file, 'old\n');
  const scene = { workspace, state: join(scratch, 'state'), registry: 'version: 1\n', tool, args };
  const given = await crash(scene, point, stillAlive ? { stillAlive } : {});
  return { ...given, read: () => readFileSync(file, 'utf8'), write: (text) => writeFileSync(file, text) };
}

function reasonOf({ errors }: ToolResponse): unknown {
  return errors[0]?.details?.['reason'];
}

describe('the key of a call whose process died [S1-43]', () => {
  test('as intended: its own answer, and nothing runs', async (t) => {
    const call = await lost(t, 'after-effect');
    const response = await retry(call);
    assert.deepEqual([response.ok, response.data, call.read()], [true, call.answer, 'old\nmore\n']);
    assert.deepEqual((await retry(call)).data, call.answer);
  });

  test('as before: it runs', async (t) => {
    const call = await lost(t, 'after-intent');
    assert.equal((await retry(call)).ok, true);
    assert.equal(call.read(), 'old\nmore\n');
    assert.equal((await retry(call)).ok, true);
    assert.equal(call.read(), 'old\nmore\n');
  });

  for (const point of ['after-intent', 'after-effect'] as const) {
    test(`changed by another program ${point}: refused, and their content stays`, async (t) => {
      const call = await lost(t, point);
      call.write('of somebody else\n');
      const response = await retry(call);
      assert.deepEqual([reasonOf(response), call.read()], ['outcome_unknown', 'of somebody else\n']);
      assert.match(String(response.errors[0]?.details?.['next']), /audit resolve/);
    });
  }

  test('put back by another program: refused, because it happened already', async (t) => {
    const call = await lost(t, 'after-effect');
    call.write('old\n');
    assert.deepEqual([reasonOf(await retry(call)), call.read()], ['outcome_unknown', 'old\n']);
  });

  test('another mode is another state, and a touched file is not untouched', async (t) => {
    const chmodded = await lost(t, 'after-effect');
    chmodSync(join(chmodded.workspace, 'a.txt'), 0o600);
    assert.equal(reasonOf(await retry(chmodded)), 'outcome_unknown');
    const touched = await lost(t, 'after-intent');
    utimesSync(join(touched.workspace, 'a.txt'), 1, 1);
    assert.equal(reasonOf(await retry(touched)), 'outcome_unknown');
  });

  test('noted below another root: refused, although the file there is as intended', async (t) => {
    const call = await lost(t, 'after-effect');
    const elsewhere = join(call.workspace, '../elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, 'a.txt'), 'old\nmore\n');
    assert.equal(reasonOf(await retry({ ...call, workspace: elsewhere })), 'outcome_unknown');
    assert.equal(readFileSync(join(elsewhere, 'a.txt'), 'utf8'), 'old\nmore\n');
  });

  test('still alive: its outcome is not decided, whatever the file holds', async (t) => {
    for (const point of ['after-intent', 'after-effect'] as const) {
      const call = await lost(t, point, { stillAlive: true });
      const host = await openOn(call);
      const found = call.read();
      assert.deepEqual([reasonOf(await retryIn(host, call)), call.read()], ['outcome_unknown', found]);
      call.giveUp();
      assert.equal((await retryIn(host, call)).ok, true);
      await host.close();
    }
  });

  test('a call that only reads is simply made again', async (t) => {
    const call = await lost(t, 'after-intent', { tool: 'file_read', args: { path: 'a.txt' } });
    call.write('new\n');
    const response = await retry(call);
    assert.equal((response.data as { content?: string } | null)?.content, 'new\n', JSON.stringify(response));
  });
});

describe('claims and processes that were tampered with [S1-43]', () => {
  const edit = ({ state }: GivenUp, sql: string) => {
    const database = new DatabaseSync(join(state, 'journal.db'));
    database.exec(sql);
    database.close();
  };

  test('a forged answer is refused and not repeated; the twin gets its answer', async (t) => {
    const call = await lost(t, 'after-result');
    assert.deepEqual((await retry(call)).data, call.answer);
    edit(call, `UPDATE key_claim SET answer = '{"status":"completed","data":{"forged":1},"errors":[],"warnings":[]}'`);
    const refused = await retry(call);
    assert.deepEqual([refused.ok, refused.data, reasonOf(refused)], [false, null, 'claim_forged']);
  });

  for (const change of [
    'DELETE FROM instance',
    'UPDATE instance SET retired_at = 5',
    "UPDATE instance SET pid = 1, birth = 'linux:other:1:1'",
  ]) {
    test(`a call that runs is not taken for lost: ${change}`, async (t) => {
      const call = await lost(t, 'after-intent', { stillAlive: true });
      edit(call, change);
      const found = call.read();
      assert.deepEqual([reasonOf(await retry(call)), call.read()], ['outcome_unknown', found]);
    });
  }

  test('the twin: its entry as it was, and the call given up, runs', async (t) => {
    const call = await lost(t, 'after-intent');
    assert.equal((await retry(call)).ok, true);
  });
});

describe('claims of a version that noted nothing [S1-43]', () => {
  const forget = ({ state }: GivenUp) => makeLegacy(state, 2);

  test('a write stays unknown', async (t) => {
    for (const point of ['after-intent', 'after-effect'] as const) {
      const call = await lost(t, point);
      forget(call);
      const found = call.read();
      assert.deepEqual([reasonOf(await retry(call)), call.read()], ['outcome_unknown', found]);
    }
  });

  test('a read is made again', async (t) => {
    const call = await lost(t, 'after-intent', { tool: 'file_read', args: { path: 'a.txt' } });
    forget(call);
    assert.equal((await retry(call)).ok, true);
  });

  test('an answer is given as ever', async (t) => {
    const call = await lost(t, 'after-result');
    forget(call);
    assert.deepEqual((await retry(call)).data, call.answer);
  });
});
