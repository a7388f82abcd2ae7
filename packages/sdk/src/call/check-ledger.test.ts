/** Two hosts in one process: two runtimes with a state folder each, on one workspace and one ledger. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { JsonObject, ToolResponse } from '@tool-runtime/protocol';
import { createRuntime } from '../runtime.ts';
import type { Session } from '../session/session.ts';
import { createMemoryLedger, type MemoryLedger } from '../testing/memory-ledger.ts';

interface Pair {
  readonly workspace: string;
  readonly ledger: MemoryLedger;
  readonly a: Session;
  readonly b: Session;
  read(name: string): string | undefined;
}

async function openPair(t: TestContext): Promise<Pair> {
  const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-ledger-'));
  const workspace = join(scratch, 'work');
  mkdirSync(workspace);
  writeFileSync(join(workspace, 'a.txt'), 'old\n');
  const ledger = createMemoryLedger();
  ledger.moveTo('a');
  const open = async (host: string): Promise<Session> => {
    const runtime = await createRuntime({ workspace, state: join(scratch, host), ledger: ledger.of(host) });
    t.after(() => runtime.close());
    return runtime.openSession({ actor: 'agent' });
  };
  const pair = { a: await open('a'), b: await open('b') };
  t.after(() => rmSync(scratch, { recursive: true, force: true }));
  const read = (name: string) =>
    existsSync(join(workspace, name)) ? readFileSync(join(workspace, name), 'utf8') : undefined;
  return { workspace, ledger, ...pair, read };
}

const APPEND = { path: 'a.txt', content: 'more\n', append: true };
const REQUEST = '3f2c1f9e-6a51-4f0e-9a1d-0c8f6d2b7e11';

function reasonOf({ errors }: ToolResponse): unknown {
  return errors[0]?.details?.['reason'];
}

/** The claim of a call with the key `lost` is made, with its rehearsal, and its host never answers. */
async function claimAndDie(
  { ledger, workspace }: Pick<Pair, 'ledger' | 'workspace'>,
  tool: string,
  args: JsonObject,
): Promise<void> {
  const begun = ledger.of('a');
  const noted: unknown[] = [];
  const probe = await createRuntime({
    workspace,
    state: join(workspace, '..', 'probe'),
    ledger: {
      ...begun,
      checkFence() {},
      async begin(intent) {
        noted.push(await begun.begin(intent));
        throw new TypeError('the host died here');
      },
    },
  });
  const session = await probe.openSession({ actor: 'agent' });
  assert.equal((await session.call(tool, args, { idempotencyKey: 'lost' })).ok, false);
  await probe.close();
  assert.equal(noted.length, 1);
}

describe('a call in the ledger of effects', () => {
  test('its key is answered by the next host, and nothing runs twice', async (t) => {
    const { a, b, ledger, read } = await openPair(t);
    const first = await a.call('file_write', APPEND, { idempotencyKey: 'k' });
    ledger.moveTo('b');
    const second = await b.call('file_write', APPEND, { idempotencyKey: 'k' });
    assert.deepEqual([first.ok, second.ok, second.data], [true, true, first.data]);
    assert.equal(read('a.txt'), 'old\nmore\n');
    const other = await b.call('file_write', { ...APPEND, content: 'x' }, { idempotencyKey: 'k' });
    assert.equal(reasonOf(other), 'key_conflict');
  });

  test('a mutating call without a key is known by the random id of its request, others are not', async (t) => {
    const { a, b, ledger, read } = await openPair(t);
    assert.equal((await a.call('file_write', APPEND, { requestId: REQUEST })).ok, true);
    assert.equal((await a.call('file_write', APPEND, { requestId: '1' })).ok, true);
    ledger.moveTo('b');
    assert.equal((await b.call('file_write', APPEND, { requestId: REQUEST })).ok, true);
    assert.equal(read('a.txt'), 'old\nmore\nmore\n');
    assert.equal((await b.call('file_write', APPEND, { requestId: '1' })).ok, true);
    assert.equal(read('a.txt'), 'old\nmore\nmore\nmore\n');
  });

  test('a host that does not hold the workspace reads and changes nothing', async (t) => {
    const { a, b, read } = await openPair(t);
    assert.equal((await b.call('file_read', { path: 'a.txt' })).ok, true);
    assert.equal(reasonOf(await b.call('file_write', APPEND)), 'fenced');
    assert.equal(read('a.txt'), 'old\n');
    assert.equal((await a.call('file_write', APPEND)).ok, true);
    assert.equal(read('a.txt'), 'old\nmore\n');
  });

  test('a host that loses the workspace during a call changes nothing any more, and the next host may run it', async (t) => {
    const { a, b, ledger, read } = await openPair(t);
    const writing = a.call('file_write', { path: 'new/b.txt', content: 'x' }, { idempotencyKey: 'late' });
    // Between the claim and the change: the claim has been made when the first turn of the loop is over.
    ledger.moveTo('b');
    const late = await writing;
    assert.equal(reasonOf(late), 'fenced');
    assert.equal(read('new/b.txt'), undefined);
    const next = await b.call('file_write', { path: 'new/b.txt', content: 'x' }, { idempotencyKey: 'late' });
    assert.equal(next.ok, true, JSON.stringify(next));
    assert.equal(read('new/b.txt'), 'x');
  });

  test('the key of a read is answered by the next host as the first one answered it', async (t) => {
    const { a, b, ledger, workspace } = await openPair(t);
    const first = await a.call('file_read', { path: 'a.txt' }, { idempotencyKey: 'k' });
    writeFileSync(join(workspace, 'a.txt'), 'new\n');
    ledger.moveTo('b');
    const second = await b.call('file_read', { path: 'a.txt' }, { idempotencyKey: 'k' });
    assert.deepEqual([first.ok, second.ok, second.data], [true, true, first.data]);
    assert.equal(reasonOf(await b.call('file_read', { path: '.' }, { idempotencyKey: 'k' })), 'key_conflict');
    const again = await b.call('file_read', { path: 'a.txt' }, { idempotencyKey: 'k' });
    assert.deepEqual(again.data, first.data);
  });

  test('a read whose host was lost runs on the next one, and until then is not answered twice', async (t) => {
    const { a, b, ledger, workspace } = await openPair(t);
    await claimAndDie({ ledger, workspace }, 'file_read', { path: 'a.txt' });
    const waiting = await a.call('file_read', { path: 'a.txt' }, { idempotencyKey: 'lost' });
    assert.equal(reasonOf(waiting), 'outcome_unknown');
    ledger.moveTo('b');
    const answer = await b.call('file_read', { path: 'a.txt' }, { idempotencyKey: 'lost' });
    assert.equal(answer.ok, true, JSON.stringify(answer));
    writeFileSync(join(workspace, 'a.txt'), 'new\n');
    ledger.moveTo('a');
    const next = await a.call('file_read', { path: 'a.txt' }, { idempotencyKey: 'lost' });
    assert.deepEqual(next.data, answer.data);
  });

  for (const point of ['untouched', 'done', 'otherwise'] as const) {
    test(`a lost call is decided by what is there: ${point}`, async (t) => {
      const { a, b, ledger, workspace, read } = await openPair(t);
      await claimAndDie({ ledger, workspace }, 'file_write', APPEND);
      assert.equal(reasonOf(await a.call('file_write', APPEND, { idempotencyKey: 'lost' })), 'outcome_unknown');
      ledger.moveTo('b');
      if (point === 'done') writeFileSync(join(workspace, 'a.txt'), 'old\nmore\n');
      if (point === 'otherwise') writeFileSync(join(workspace, 'a.txt'), 'else\n');
      const answer = await b.call('file_write', APPEND, { idempotencyKey: 'lost' });
      if (point === 'otherwise') assert.equal(reasonOf(answer), 'outcome_unknown');
      else assert.equal(answer.ok, true, JSON.stringify(answer));
      assert.equal(read('a.txt'), point === 'otherwise' ? 'else\n' : 'old\nmore\n');
    });
  }

  /** A host that may ask its fence so often after its claim, and then has lost the workspace. */
  async function openLosing(t: TestContext, passes: number) {
    const { ledger, workspace, read } = await openPair(t);
    const own = ledger.of('a');
    let left = Number.POSITIVE_INFINITY;
    const runtime = await createRuntime({
      workspace,
      state: join(workspace, '..', 'losing'),
      ledger: {
        ...own,
        checkFence() {
          if (left <= 0) ledger.moveTo('b');
          left -= 1;
          own.checkFence();
        },
        async begin(intent) {
          const claim = await own.begin(intent);
          left = passes;
          return claim;
        },
      },
    });
    t.after(() => runtime.close());
    return { session: await runtime.openSession({ actor: 'agent' }), read };
  }

  test('the fence is asked before each change of a tool', async (t) => {
    const lost = await openLosing(t, 0);
    assert.equal(reasonOf(await lost.session.call('fs_delete', { path: 'a.txt' })), 'fenced');
    assert.equal(lost.read('a.txt'), 'old\n');
    const held = await openLosing(t, 100);
    assert.equal((await held.session.call('fs_delete', { path: 'a.txt' })).ok, true);
    assert.equal(held.read('a.txt'), undefined);
  });

  test('the fence is asked once more at the rename that makes a write real', async (t) => {
    const lost = await openLosing(t, 1);
    assert.equal(reasonOf(await lost.session.call('file_write', APPEND)), 'fenced');
    assert.equal(lost.read('a.txt'), 'old\n');
    const held = await openLosing(t, 100);
    assert.equal((await held.session.call('file_write', APPEND)).ok, true);
    assert.equal(held.read('a.txt'), 'old\nmore\n');
  });
});
