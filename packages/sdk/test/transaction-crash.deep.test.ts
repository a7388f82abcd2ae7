/**
 * The commit of a transaction killed right before each of its system calls: afterwards all of it is real or nothing,
 * and nothing is left.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createRuntime } from '../src/runtime.ts';
import { readStates } from './commit-crash-scene.ts';
import { CRASH_EDITS } from './transaction-crash-edits.ts';

const CHILD = new URL('./transaction-crash-child.ts', import.meta.url).pathname;

function plant(workspace: string): void {
  mkdirSync(join(workspace, 'folder'), { recursive: true });
  for (const name of ['edited.txt', 'removed.txt', 'mode.txt', 'log.txt', 'folder/one.txt', 'folder/two.txt']) {
    writeFileSync(join(workspace, name), `${name}\n`);
    chmodSync(join(workspace, name), 0o644);
  }
}

function treeOf(workspace: string): string {
  return JSON.stringify([...readStates(workspace)].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

interface Killed {
  readonly calls: number;
  readonly tree: string;
  /** What the same commit with the same key is answered afterwards. */
  readonly again: string;
}

interface Way {
  readonly recover: 'next start' | 'live host';
  /** The registry's lines. */
  readonly lines: string;
  /** Every so many calls are tried. */
  readonly step: number;
}

const OVERLAY = 'version: 1\nshell: { mode: sandboxed }\n';
/** More than the commit of a batch makes. */
const COMMIT_CALLS = 300;
const COPY = 'version: 1\nisolation: none\n';

async function killedAt(call: number, { recover, lines }: Way): Promise<Killed> {
  const base = mkdtempSync(join(tmpdir(), 'transaction-crash-'));
  try {
    const [workspace, state] = [join(base, 'workspace'), join(base, 'state')];
    plant(workspace);
    const open = () => createRuntime({ workspace, state });
    const live = recover === 'live host' ? await open() : undefined;
    const words = ['-C', 'tool-runtime-source', CHILD, workspace, state, String(call), lines];
    const { stdout, signal, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
    assert.ok(signal === 'SIGKILL' || stdout !== '', stderr);
    const runtime = live ?? (await open());
    if (live !== undefined) await live.reconcile();
    const tree = treeOf(workspace);
    const left = ['commits', 'overlays', 'transactions'].flatMap((name) => namesIn(join(state, name)));
    const session = await runtime.openSession({ actor: 'crash' });
    const again = await session.call('tx_commit', {}, { idempotencyKey: 'only-once' });
    assert.equal(treeOf(workspace), tree, 'a retry makes nothing real a second time');
    const listed = await session.call('change_list', {});
    assert.ok(listed.ok);
    assert.deepEqual([listed.data.transactions, left.filter((name) => !name.endsWith('.json'))], [[], []]);
    assert.deepEqual(
      namesIn(workspace).filter((name) => name.startsWith('.tool-runtime')),
      [],
    );
    assert.equal(runtime.verify().ok, true);
    await runtime.close();
    return {
      calls: stdout === '' ? Number.POSITIVE_INFINITY : Number(stdout),
      tree,
      again: again.ok ? 'committed' : String(again.errors[0]?.details?.['reason']),
    };
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

async function loop(t: TestContext, way: Way): Promise<void> {
  const base = mkdtempSync(join(tmpdir(), 'transaction-crash-'));
  plant(base);
  const before = treeOf(base);
  rmSync(base, { recursive: true });
  const whole = await killedAt(Number.POSITIVE_INFINITY, way);
  assert.notEqual(whole.tree, before);
  assert.ok(whole.calls > 50, String(whole.calls));
  const outcomes: string[] = [];
  for (let call = 0; call < whole.calls; call += way.step) {
    const { tree, again } = await killedAt(call, way);
    assert.ok(tree === before || tree === whole.tree, `torn before call ${call}: ${tree}`);
    assert.equal(again, tree === before ? 'unknown_tx' : 'committed', `before call ${call}`);
    outcomes.push(tree === before ? 'old' : 'new');
  }
  const turn = outcomes.indexOf('new');
  assert.ok(turn > 0 && outcomes.slice(turn).every((one) => one === 'new'), outcomes.join(' '));
  t.diagnostic(`${whole.calls} system calls; whole from ${turn * way.step} on`);
}

/** The nightly run kills before each of them. */
const STEP = Number(process.env['TRANSACTION_CRASH_STEP'] ?? 4);

test('a transaction killed before any system call of its commit is whole or not begun at the next start', (t) =>
  loop(t, { recover: 'next start', lines: OVERLAY, step: STEP }));

test('a live host finishes or drops the transaction of a killed process', (t) =>
  loop(t, { recover: 'live host', lines: OVERLAY, step: 7 }));

test('the same holds for a transaction on a copy of the workspace', (t) =>
  loop(t, { recover: 'next start', lines: COPY, step: 7 }));

test('the same holds with durability: full', (t) =>
  loop(t, { recover: 'next start', lines: `${OVERLAY}durability: full\n`, step: 7 }));

test('an atomic batch whose process was killed before any system call is made exactly once when it is sent again', async (t) => {
  /** The end of the batch is its commit; the calls before it only stage. */
  const next = (call: number, calls: number): number => {
    if (!Number.isFinite(call)) return 0;
    return call < calls - COMMIT_CALLS ? Math.min(call + 300, calls - COMMIT_CALLS) : call + 19;
  };
  const outcomes: string[] = [];
  let whole: string | undefined;
  for (let call = Number.POSITIVE_INFINITY, calls = 0; ; ) {
    const base = mkdtempSync(join(tmpdir(), 'batch-crash-'));
    try {
      const [workspace, state] = [join(base, 'workspace'), join(base, 'state')];
      plant(workspace);
      const before = treeOf(workspace);
      const words = ['-C', 'tool-runtime-source', CHILD, workspace, state, String(call), OVERLAY, 'batch'];
      const { stdout, signal, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
      assert.ok(signal === 'SIGKILL' || stdout !== '', stderr);
      const runtime = await createRuntime({ workspace, state, registry: { file: 'registry.yaml', text: OVERLAY } });
      const left = treeOf(workspace);
      whole ??= left;
      assert.ok(left === before || left === whole, `torn before call ${call}: ${left}`);
      const session = await runtime.openSession({ actor: 'crash' });
      const again = await session.batch(CRASH_EDITS, { atomic: true });
      assert.ok(
        again.every(({ ok }) => ok),
        `before call ${call}: ${JSON.stringify(again)}`,
      );
      assert.equal(treeOf(workspace), whole, `before call ${call}`);
      outcomes.push(left === before ? 'run' : 'answered');
      await runtime.close();
      if (stdout !== '') calls = Number(stdout);
      call = next(call, calls);
      if (call >= calls) break;
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  }
  assert.ok(outcomes.includes('run') && outcomes.filter((one) => one === 'answered').length > 1, outcomes.join(' '));
  t.diagnostic(outcomes.join(' '));
});
