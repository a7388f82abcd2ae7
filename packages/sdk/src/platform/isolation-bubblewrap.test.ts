import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createBubblewrap } from './isolation-bubblewrap.ts';
import { createSpawner } from './spawner.ts';

interface Place {
  readonly workspace: string;
  /** Output of a shell script behind the wall. */
  run(script: string, hiddenPaths?: readonly string[]): Promise<string>;
}

function openPlace(t: TestContext): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'bubblewrap-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const [workspace, folder] = [join(root, 'workspace'), join(root, 'wall')];
  mkdirSync(workspace);
  mkdirSync(folder, { mode: 0o700 });
  return {
    workspace,
    async run(script, hiddenPaths = []) {
      const isolation = createBubblewrap({ spawner: createSpawner(), folder, hiddenPaths });
      assert.equal(await isolation.check(), undefined);
      const wall = isolation.enter({ workspace, writable: true, proxySocket: null, protectedPaths: [] });
      const words = { program: '/bin/sh', args: ['-c', script], env: { PATH: '/usr/bin:/bin' }, cwd: '.' };
      const { program, args, env, cwd } = wall.confine(words);
      const stdio: ('ignore' | 'pipe')[] = ['ignore', 'pipe', 'pipe', 'pipe'];
      const { stdout, stderr } = spawnSync(program, args, { env, cwd, stdio, encoding: 'utf8' });
      assert.equal(stderr, '');
      return stdout;
    },
  };
}

test('S0-36 a program has a session of its own: the terminal of whoever started the runtime is not its', async (t) => {
  const { run } = openPlace(t);
  const stat = await run('cat /proc/self/stat');
  const [, , , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // One that began outside has no number inside.
  assert.notEqual(Number(session), 0);
});

test('S0-36 what is hidden is not seen in the workspace either; the rest is', async (t) => {
  const { run, workspace } = openPlace(t);
  const state = join(workspace, 'state');
  mkdirSync(state);
  writeFileSync(join(state, 'key'), 'secret');
  writeFileSync(join(workspace, 'file'), 'open');
  assert.equal(await run('cat file; ls state'), 'openkey\n');
  assert.equal(await run('cat file; ls state', [state]), 'open');
});
