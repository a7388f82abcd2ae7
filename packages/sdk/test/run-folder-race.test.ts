/**
 * An attacker swaps the folder of a tool for a link to outside while runs are made and results written in it.
 *
 * The naive way is gone first and must be led outside, which proves that the attack is real on this machine.
 */
import assert from 'node:assert/strict';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { createRunIds } from '../src/external/protocol/run-ids.ts';
import { checkOutputPath } from '../src/platform/runs/output-path.ts';
import { createRunFolder, openRunFolder } from '../src/platform/runs/run-folder.ts';
import { readRunFile, writeResultAtomic } from '../src/platform/runs/run-result-file.ts';
import { startAttacker } from './swapping-attacker.ts';

const MAX_NAIVE_ROUNDS = 200_000;
const MAX_ROUNDS = 100_000;
/** How often each side of the swap has to be met. */
const WANTED = 150;

/** The tool is called `folder`, as the attacker calls what it swaps. */
async function arena(t: TestContext) {
  const parent = realpathSync(mkdtempSync(join(tmpdir(), 'run-race-')));
  const [base, outside] = [join(parent, 'base'), join(parent, 'outside')];
  const tools = join(base, 'tools');
  mkdirSync(join(tools, 'folder'), { recursive: true, mode: 0o700 });
  mkdirSync(outside);
  symlinkSync('../../outside', join(tools, 'trap'));
  let stopAttacker = async () => {};
  t.after(async () => {
    await stopAttacker();
    rmSync(parent, { recursive: true, force: true });
  });
  const attack = async (folder = tools) => {
    stopAttacker = await startAttacker(folder);
  };
  return { base, tools, outside, attack, place: { base, tool: 'folder', withPack: true } };
}

const ids = () => createRunIds(() => performance.timeOrigin + performance.now());

/** Runs until both answers were given often enough; anything but these two is an error. */
async function untilBoth(t: TestContext, act: () => unknown): Promise<void> {
  const met = { done: 0, refused: 0 };
  for (let round = 0; round < MAX_ROUNDS && Math.min(met.done, met.refused) < WANTED; round++) {
    try {
      await act();
      met.done += 1;
    } catch (thrown) {
      // Between three renames there may be nothing at all.
      if (!isToolError(thrown) || !['E_POLICY', 'E_FILE_IO'].includes(thrown.code)) throw thrown;
      met.refused += 1;
    }
  }
  t.diagnostic(JSON.stringify(met));
  assert.ok(met.done > 0 && met.refused > 0, 'both sides of the swap were met');
}

test('looking for a link and then making the folder by its path is led outside [S4-10]', async (t) => {
  const { tools, outside, attack } = await arena(t);
  await attack();
  const next = ids();
  for (let round = 0; round < MAX_NAIVE_ROUNDS && readdirSync(outside).length === 0; round++) {
    try {
      if (lstatSync(join(tools, 'folder')).isDirectory()) mkdirSync(join(tools, 'folder', next.next()));
    } catch {
      // Mid-swap there may be nothing to look at.
    }
  }
  assert.notEqual(readdirSync(outside).length, 0);
});

test('a run folder is never made outside while its parent is swapped [S4-10]', async (t) => {
  const { outside, attack, place } = await arena(t);
  await attack();
  const next = ids();
  await untilBoth(t, () => createRunFolder({ ...place, ids: next }).close());
  assert.deepEqual(readdirSync(outside), []);
});

test('looking for a link and then writing the result by its path is led outside [S4-19]', async (t) => {
  const { outside, attack, place } = await arena(t);
  const run = createRunFolder({ ...place, ids: ids() });
  run.close();
  mkdirSync(join(outside, run.runId));
  await attack();
  const isOutside = () => readdirSync(join(outside, run.runId)).length > 0;
  for (let round = 0; round < MAX_NAIVE_ROUNDS && !isOutside(); round++) {
    try {
      if (realpathSync(run.path) === run.path) writeFileSync(join(run.path, 'result.json'), 'x');
    } catch {
      // Mid-swap there may be nothing to look at.
    }
  }
  assert.ok(isOutside());
});

test('a held run folder is read and written where it is while its parent is swapped [S4-19 S4-20 S4-13]', async (t) => {
  const { outside, attack, place } = await arena(t);
  const run = createRunFolder({ ...place, ids: ids() });
  t.after(run.close);
  writeFileSync(join(run.path, 'output'), 'inside');
  mkdirSync(join(outside, run.runId));
  writeFileSync(join(outside, run.runId, 'output'), 'outside!');
  writeFileSync(join(outside, run.runId, 'result.json'), 'outside');
  await attack();
  for (let round = 0; round < 300; round++) {
    writeResultAtomic(run, `round ${round}`);
    assert.deepEqual(readRunFile(run, 'result.json', 100), Buffer.from(`round ${round}`));
    assert.equal((await checkOutputPath(run, 'output')).bytes, 6);
  }
  assert.deepEqual(readRunFile({ dirFd: run.dirFd }, 'result.json', 100), Buffer.from('round 299'));
  assert.deepEqual(readdirSync(join(outside, run.runId)).sort(), ['output', 'result.json']);
});

test('an earlier run is never opened outside while its parent is swapped [S4-10]', async (t) => {
  const { outside, attack, place } = await arena(t);
  const run = createRunFolder({ ...place, ids: ids() });
  t.after(run.close);
  writeResultAtomic(run, 'inside');
  mkdirSync(join(outside, run.runId));
  writeFileSync(join(outside, run.runId, 'result.json'), 'outside');
  await attack();
  await untilBoth(t, () => {
    const again = openRunFolder({ ...place, runId: run.runId });
    if (again === undefined) return;
    try {
      assert.deepEqual(readRunFile(again, 'result.json', 100), Buffer.from('inside'));
    } finally {
      again.close();
    }
  });
});

test('an output is never read outside while a folder on its way is swapped [S4-13]', async (t) => {
  const { outside, place, attack } = await arena(t);
  const run = createRunFolder({ ...place, tool: 'ask', ids: ids() });
  t.after(run.close);
  mkdirSync(join(run.path, 'folder'));
  writeFileSync(join(run.path, 'folder/output'), 'inside');
  writeFileSync(join(outside, 'output'), 'outside!');
  symlinkSync(outside, join(run.path, 'trap'));
  await attack(run.path);
  let [done, refused] = [0, 0];
  for (let round = 0; round < MAX_ROUNDS && Math.min(done, refused) < WANTED; round++) {
    try {
      assert.equal((await checkOutputPath(run, 'folder/output')).bytes, 6);
      done += 1;
    } catch (thrown) {
      if (!isToolError(thrown)) throw thrown;
      refused += 1;
    }
  }
  assert.ok(done > 0 && refused > 0, 'both sides of the swap were met');
});
