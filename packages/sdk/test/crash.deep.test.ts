import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ToolResponse } from '@tool-runtime/protocol';
import { createRuntime } from '../src/index.ts';

const CHILD = new URL('./crash-child.ts', import.meta.url).pathname;

interface Scene {
  readonly workspace: string;
  readonly state: string;
  /** Runs the child; `answer` is undefined when it died before answering. */
  run(point: string, tool?: string): { readonly answer: ToolResponse | undefined; readonly signal: string | null };
  rings(): number;
  /** Opens the folder as a new process would, which reconciles, and reports what it found. */
  inspect(): Promise<{
    readonly unfinished: readonly string[];
    readonly verified: boolean;
    readonly kinds: readonly string[];
  }>;
}

async function withScene(use: (scene: Scene) => Promise<void>): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-crash-'));
  const workspace = join(scratch, 'workspace');
  const state = join(scratch, 'state');
  const effects = join(scratch, 'effects');
  mkdirSync(workspace);
  try {
    await use({
      workspace,
      state,
      run(point, tool = 'bell') {
        const child = spawnSync(
          process.execPath,
          ['-C', 'tool-runtime-source', CHILD, workspace, state, effects, point, tool],
          {
            encoding: 'utf8',
          },
        );
        assert.equal(child.stderr, '');
        return { answer: child.stdout === '' ? undefined : JSON.parse(child.stdout), signal: child.signal };
      },
      rings: () => (existsSync(effects) ? readFileSync(effects, 'utf8').split('\n').length - 1 : 0),
      async inspect() {
        const runtime = await createRuntime({ workspace, state });
        try {
          const records = [...runtime.records()];
          const recovered = records.flatMap((record) => (record.kind === 'recovery' ? [record.classification] : []));
          return {
            unfinished: recovered,
            verified: runtime.verify().ok,
            kinds: records.map((record) => record.kind),
          };
        } finally {
          await runtime.close();
        }
      },
    });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

describe('section 6.8 a process killed in the middle of a call', () => {
  for (const [point, rung] of [
    ['after-intent', 0],
    ['during-tool', 0],
    ['after-effect', 1],
    ['in-result-turn', 1],
  ] as const) {
    test(`killed ${point}: the open intent is found, and the key never causes a second effect [S1-42 S1-43]`, () =>
      withScene(async (scene) => {
        const crashed = scene.run(point);
        assert.deepEqual([crashed.signal, crashed.answer], ['SIGKILL', undefined]);
        assert.equal(scene.rings(), rung);
        const found = await scene.inspect();
        assert.equal(found.verified, true);
        if (!found.kinds.includes('result')) assert.deepEqual(found.unfinished, ['reconcile']);
        const retry = scene.run('never');
        if (found.kinds.includes('result')) assert.equal(retry.answer?.ok, true);
        else assert.equal(retry.answer?.errors[0]?.details?.['reason'], 'outcome_unknown');
        assert.equal(scene.rings(), rung, 'no second effect');
      }));
  }

  for (const [outcome, rings] of [
    ['not_started', 1],
    ['completed', 0],
  ] as const) {
    test(`an operator who says ${outcome} frees the key: the retry ${rings === 1 ? 'runs' : 'is answered without running'} [S1-42]`, () =>
      withScene(async (scene) => {
        scene.run('during-tool');
        const runtime = await createRuntime({ workspace: scene.workspace, state: scene.state });
        const [lost] = [...runtime.records({ kind: 'intent' })];
        assert.ok(lost?.kind === 'intent');
        await runtime.resolvePending(lost.call_id, outcome, 'looked at the effects file');
        await assert.rejects(runtime.resolvePending(lost.call_id, outcome, 'again'), { code: 'E_VALIDATION_FAIL' });
        await runtime.close();
        assert.equal(scene.run('never').answer?.ok, true);
        assert.equal(scene.rings(), rings);
      }));
  }

  test('killed after the result: the retry is answered from the record [S1-43]', () =>
    withScene(async (scene) => {
      assert.equal(scene.run('after-result').signal, 'SIGKILL');
      const retry = scene.run('never');
      assert.deepEqual(retry.answer?.data, { rung: true });
      assert.equal(scene.rings(), 1);
      assert.equal((await scene.inspect()).verified, true);
    }));

  test('a write that died before its effect runs when its key is used again [S1-42]', () =>
    withScene(async (scene) => {
      assert.equal(scene.run('after-intent', 'file_write').signal, 'SIGKILL');
      assert.equal(existsSync(join(scene.workspace, 'note.txt')), false);
      assert.deepEqual((await scene.inspect()).unfinished, ['reconcile']);
      const retry = scene.run('never', 'file_write');
      assert.equal(retry.answer?.ok, true);
      assert.equal(readFileSync(join(scene.workspace, 'note.txt'), 'utf8'), 'crash');
    }));

  test('reconciling twice finds nothing new, and a clean end leaves nothing to find [S1-42]', () =>
    withScene(async (scene) => {
      scene.run('during-tool');
      const first = await scene.inspect();
      const second = await scene.inspect();
      assert.deepEqual(second.unfinished, first.unfinished);
      await withScene(async (clean) => {
        assert.equal(clean.run('never').answer?.ok, true);
        assert.deepEqual((await clean.inspect()).unfinished, []);
      });
    }));
});
