import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { JsonObject } from '@tool-runtime/protocol';
import { openExternalScene, type Scene } from '../../../test/external-scene.ts';
import { type PruneRunsOptions, pruneRuns } from './prune-runs.ts';
import { listRuns, type RunSummary, runStart } from './read-run.ts';

const DAY = 86_400_000;

let scene: Scene;

beforeEach(async () => {
  scene = await openExternalScene({ tools: ['name: plain', 'name: needs-pack'] });
  writeFileSync(join(scene.workspace, 'a.pack'), 'content');
});

afterEach(() => scene.dispose());

async function run(tool: string, args: JsonObject): Promise<RunSummary> {
  await scene.session.call(tool, args);
  const { value } = listRuns(scene.state).next();
  return value ?? assert.fail('no run');
}

function prune(options: Partial<PruneRunsOptions> = {}) {
  return pruneRuns({ state: scene.state, registry: scene.runtime.registry, olderThanMs: 0, ...options });
}

function begin(runId: string): string {
  const folder = join(scene.state, 'external/runs/plain', runId);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

const left = (): string[] => [...listRuns(scene.state)].map(({ run_id }) => run_id);

describe('pruning runs', () => {
  test('removes those that are older, oldest first, and says how many bytes that were', async () => {
    const first = await run('plain', { args: ['head -c 1000 /dev/zero > a; result'] });
    const second = await run('needs-pack', { args: ['result'], pack: 'a.pack' });
    assert.deepEqual((await prune({ olderThanMs: DAY })).removed, []);
    const now = runStart(second.run_id) + 2 * DAY;
    const size = (folder: string): number =>
      readdirSync(join(scene.state, folder)).reduce(
        (sum, name) => sum + statSync(join(scene.state, folder, name)).size,
        0,
      );
    const bytes = size(first.run_dir) + size(second.run_dir);
    const dry = await prune({ olderThanMs: DAY, now, dryRun: true });
    assert.equal(left().length, 2);
    const report = await prune({ olderThanMs: DAY, now });
    assert.deepEqual(report, { removed: [first.run_dir, second.run_dir], bytes, running: 0, skipped: [] });
    assert.deepEqual([dry, left()], [report, []]);
  });

  test('keeps the newest of each tool, and with failedOnly everything that did not fail', async () => {
    const made = [
      await run('plain', { args: ['exit 1'] }),
      await run('plain', { args: ['result'] }),
      await run('plain', { args: ['exit 1'] }),
      await run('needs-pack', {}),
    ].map(({ run_id }) => run_id);
    const now = Date.now() + DAY;
    assert.deepEqual((await prune({ now, keep: 3 })).removed, []);
    await prune({ now, keep: 1, failedOnly: true });
    assert.deepEqual(left(), [made[3], made[2], made[1]]);
    await prune({ now, failedOnly: true });
    assert.deepEqual(left(), [made[1]]);
    await prune({ now });
    assert.deepEqual(left(), []);
  });

  test('never touches one that may be running, and takes it once its time is over', async () => {
    const runId = '2026-01-01T00-00-00-000000Z-000000';
    const folder = begin(runId);
    const start = runStart(runId);
    const limit = scene.runtime.registry.externalTools[0]?.timeout_ms ?? 0;
    const during = await prune({ now: start + limit - 1 });
    assert.deepEqual([during.removed, during.running, existsSync(folder)], [[], 1, true]);
    const after = await prune({ now: start + limit + 60_000 });
    assert.deepEqual([after.removed.length, after.running, existsSync(folder)], [1, 0, false]);
  });

  test('keeps the run of a tool that is no longer listed for a day', async () => {
    const runId = '2026-01-01T00-00-00-000000Z-000000';
    const folder = join(scene.state, 'external/runs/former', runId);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    assert.equal((await prune({ now: runStart(runId) + DAY - 1 })).running, 1);
    assert.equal((await prune({ now: runStart(runId) + DAY + 60_000 })).removed.length, 1);
  });

  test('follows no link: what lies behind one stays [S4-10]', async () => {
    const outside = join(scene.workspace, 'precious');
    mkdirSync(outside);
    writeFileSync(join(outside, 'file'), 'x');
    const folder = begin('2001-01-01T00-00-00-000000Z-000000');
    symlinkSync(outside, join(folder, 'link'));
    const linked = begin('2002-01-01T00-00-00-000000Z-000000');
    rmSync(linked, { recursive: true });
    symlinkSync(outside, linked);
    const { removed, skipped } = await prune();
    assert.deepEqual([removed.length, existsSync(folder)], [1, false]);
    assert.match(skipped[0]?.reason ?? '', /link/);
    assert.deepEqual(readdirSync(outside), ['file']);
  });
});
