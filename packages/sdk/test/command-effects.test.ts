import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ToolResponse } from '@tool-runtime/protocol';
import { openScratchRuntime, type ScratchRuntime } from '../src/testing/scratch-runtime.ts';

const registry = (...lines: readonly string[]) => ({
  file: 'ops.yaml',
  text: ['version: 1', 'shell:', '  mode: sandboxed', ...lines, ''].join('\n'),
});

async function withShell(lines: readonly string[], use: (scratch: ScratchRuntime) => Promise<void>): Promise<void> {
  const scratch = await openScratchRuntime({ registry: registry(...lines) });
  try {
    await use(scratch);
  } finally {
    await scratch.dispose();
  }
}

interface Effects {
  readonly mode: string;
  readonly total: number;
  readonly added: readonly string[];
  readonly modified: readonly string[];
  readonly deleted: readonly string[];
  readonly diff?: string;
}

const effectsOf = ({ data, errors }: ToolResponse): Effects | undefined => {
  assert.deepEqual(errors, []);
  return (data as { effects?: Effects }).effects;
};

const SCRIPT = 'echo new > made; echo more >> edited; rm -r gone; mkdir -p a/b; chmod 755 edited';

function prepare({ workspace }: ScratchRuntime): void {
  writeFileSync(join(workspace, 'edited'), 'old\n', { mode: 0o644 });
  mkdirSync(join(workspace, 'gone'));
  writeFileSync(join(workspace, 'gone/x'), 'x\n');
}

describe('shell_exec with effects', () => {
  test('recorded: what the command wrote is applied when it ends, as one change set', () =>
    withShell(['effects: recorded'], async (scratch) => {
      prepare(scratch);
      const { session, workspace } = scratch;
      const answer = await session.call('shell_exec', { cmd: SCRIPT });
      const effects = effectsOf(answer);
      assert.deepEqual(answer.warnings, []);
      assert.deepEqual(
        [effects?.mode, effects?.added, effects?.modified, effects?.deleted],
        ['recorded', ['a', 'a/b', 'made'], ['edited'], ['gone', 'gone/x']],
      );
      assert.equal(readFileSync(join(workspace, 'edited'), 'utf8'), 'old\nmore\n');
      assert.deepEqual(
        ['made', 'gone', 'a/b'].map((name) => existsSync(join(workspace, name))),
        [true, false, true],
      );
      assert.ok(answer.change_id);
    }));

  test('preview: the answer is the diff and a change that is pending; the workspace stays as it is', () =>
    withShell(['effects: preview'], async (scratch) => {
      prepare(scratch);
      const { session, workspace } = scratch;
      const answer = await session.call('shell_exec', { cmd: SCRIPT });
      const effects = effectsOf(answer);
      assert.equal(effects?.total, 6);
      assert.match(effects?.diff ?? '', /--- a\/edited\n\+\+\+ b\/edited\nmode 644 → 755\n[\s\S]*\+more\n/);
      assert.match(effects?.diff ?? '', /--- \/dev\/null\n\+\+\+ b\/made\n[\s\S]*\+new\n/);
      assert.equal(readFileSync(join(workspace, 'edited'), 'utf8'), 'old\n');
      assert.deepEqual(
        ['made', 'gone/x'].map((name) => existsSync(join(workspace, name))),
        [false, true],
      );
      assert.ok(answer.change_id);
    }));

  test('what was previewed becomes real by change_apply, exactly that, and can be undone', () =>
    withShell(['effects: preview'], async (scratch) => {
      prepare(scratch);
      const { session, workspace } = scratch;
      const { change_id = '' } = await session.call('shell_exec', { cmd: SCRIPT });
      const applied = await session.call('change_apply', { change_id });
      assert.deepEqual(applied.errors, []);
      assert.equal(readFileSync(join(workspace, 'edited'), 'utf8'), 'old\nmore\n');
      assert.deepEqual(
        ['made', 'gone', 'a/b'].map((name) => existsSync(join(workspace, name))),
        [true, false, true],
      );
      const undone = await session.call('change_undo', { change_id: applied.change_id ?? '' });
      assert.deepEqual(undone.errors, []);
      assert.equal(readFileSync(join(workspace, 'gone/x'), 'utf8'), 'x\n');
      assert.equal(existsSync(join(workspace, 'made')), false);
    }));

  test('a call may ask for more caution than the registry, and is refused when it asks for less', () =>
    withShell(['effects: recorded'], async ({ session, workspace }) => {
      const weaker = await session.call('shell_exec', { cmd: 'echo x > x', effects: 'direct' });
      assert.deepEqual([weaker.errors[0]?.code, weaker.errors[0]?.details?.['gate']], ['E_POLICY', 'effects']);
      assert.equal(existsSync(join(workspace, 'x')), false);
      assert.equal(
        effectsOf(await session.call('shell_exec', { cmd: 'echo x > x', effects: 'preview' }))?.mode,
        'preview',
      );
      assert.equal(existsSync(join(workspace, 'x')), false);
      assert.equal(effectsOf(await session.call('shell_exec', { cmd: 'echo x > x' }))?.mode, 'recorded');
      assert.equal(existsSync(join(workspace, 'x')), true);
    }));

  test('without a word in the registry commands are direct', () =>
    withShell([], async ({ session, workspace }) => {
      assert.equal(effectsOf(await session.call('shell_exec', { cmd: 'echo x > x' })), undefined);
      assert.equal(existsSync(join(workspace, 'x')), true);
      rmSync(join(workspace, 'x'));
      assert.equal(effectsOf(await session.call('shell_exec', { cmd: 'true', effects: 'recorded' }))?.total, 0);
    }));

  test('a job is direct unless it asks, and refused where everything is previewed', async () => {
    await withShell(['effects: recorded'], async ({ session }) => {
      assert.equal(effectsOf(await session.call('shell_exec', { cmd: 'true', yield_after_ms: 60_000 })), undefined);
      const asked = await session.call('shell_exec', {
        cmd: 'echo y > y',
        yield_after_ms: 60_000,
        effects: 'recorded',
      });
      assert.deepEqual(effectsOf(asked)?.added, ['y']);
    });
    await withShell(['effects: preview'], async ({ session }) => {
      const refused = await session.call('shell_exec', { cmd: 'true', yield_after_ms: 60_000 });
      assert.equal(refused.errors[0]?.details?.['reason'], 'no_jobs_in_preview');
    });
  });
});
