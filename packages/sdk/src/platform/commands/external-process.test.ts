import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { startingFolder } from '../sandbox/sandbox-mounts.ts';
import { createNoIsolation } from '../sandbox/session-sandbox.ts';
import { createExternalPrograms, type ExternalStart } from './external-process.ts';

function scene(t: TestContext, options: { isolation?: 'bubblewrap' | 'none'; readPaths?: readonly string[] } = {}) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'external-')));
  const [workspace, state] = [join(base, 'workspace'), join(base, 'state')] as const;
  const [sealed, run] = [join(state, 'external', 'exec', 'one'), join(state, 'external', 'runs', 'a', 'one')] as const;
  for (const folder of [workspace, sealed, run, join(state, 'external', 'runs', 'a', 'other')]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }
  writeFileSync(join(state, 'journal'), 'CANARY');
  writeFileSync(join(state, 'external', 'runs', 'a', 'other', 'result.json'), 'CANARY');
  const program = join(sealed, 'tool');
  writeFileSync(program, '#!/bin/sh\neval "$1"\n');
  chmodSync(program, 0o500);
  const programs = createExternalPrograms({
    workspace,
    state,
    isolation: options.isolation ?? 'bubblewrap',
    allowedDomains: [],
    readPaths: options.readPaths ?? [],
    governing: [],
  });
  t.after(async () => {
    await programs.close();
    rmSync(base, { recursive: true, force: true });
  });
  const go = async (work: string, more: Partial<ExternalStart> = {}) => {
    let stdout = '';
    const end = await programs.run({
      sealed: { folder: sealed, program },
      interpreter: [],
      args: [work],
      runFolder: run,
      writable: false,
      network: false,
      signal: new AbortController().signal,
      environment: () => ({ PATH: '/usr/bin:/bin' }),
      onOutput: (stream, chunk) => {
        if (stream === 'stdout') stdout += Buffer.from(chunk).toString();
      },
      ...more,
    });
    return { ...end, stdout };
  };
  return { base, workspace, state, sealed, run, go };
}

describe('the sandbox of an external tool', () => {
  test('shows of the state folder the run and the copy alone [S4-45]', async (t) => {
    const { state, run, sealed, go } = scene(t);
    const { stdout } = await go(
      `pwd; find ${state} -type f; cat ${state}/journal || echo hidden; echo x > ${run}/made`,
    );
    assert.deepEqual(stdout.trim().split('\n'), [run, join(sealed, 'tool'), 'hidden']);
    assert.ok(existsSync(join(run, 'made')));
  });

  test('shows nothing more of it when the operator shows a folder around it [S4-45]', async (t) => {
    const around = realpathSync(mkdtempSync(join(tmpdir(), 'around-')));
    t.after(() => rmSync(around, { recursive: true, force: true }));
    writeFileSync(join(around, 'shown'), 'SHOWN');
    const { base, state, go } = scene(t, { readPaths: [around, tmpdir()] });
    const { stdout } = await go(
      `cat ${around}/shown; cat ${state}/journal; ls ${base}/workspace >/dev/null && echo there`,
    );
    assert.equal(stdout, 'SHOWNthere\n');
  });

  test('lets it write to its run folder, not to its copy, and to the workspace only where it may [S4-45]', async (t) => {
    const { workspace, sealed, go } = scene(t);
    const work = `echo x > here; echo x > ${sealed}/tool; echo x > ${sealed}/new; echo x > ${workspace}/file; ls ${sealed}`;
    assert.equal((await go(work)).stdout, 'tool\n');
    assert.equal(existsSync(join(workspace, 'file')), false);
    await go(work, { writable: true });
    assert.equal(existsSync(join(workspace, 'file')), true);
  });

  test('starts it beside its copy where it has no run folder [S4-45]', async (t) => {
    const { sealed, go, run } = scene(t);
    const start = { runFolder: undefined } as unknown as Partial<ExternalStart>;
    assert.equal((await go(`pwd; ls ${run} 2>/dev/null || echo none`, start)).stdout, `${sealed}\nnone\n`);
  });

  test('hands it the environment it was given and nothing of ours [S4-44]', async (t) => {
    const { go } = scene(t);
    const { stdout } = await go('env', { environment: () => ({ PATH: '/usr/bin:/bin', ONLY: 'this' }) });
    const names = stdout
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0]);
    assert.deepEqual(names.filter((name) => !['PWD', '_', 'OLDPWD', 'SHLVL'].includes(name ?? '')).sort(), [
      'ONLY',
      'PATH',
    ]);
  });

  test('runs it by an interpreter that is named, and by none in the workspace', async (t) => {
    const { workspace, go } = scene(t);
    const { stdout } = await go('echo $0 $-', { interpreter: ['sh', '-e'] });
    assert.match(stdout, /tool e\n$/);
    writeFileSync(join(workspace, 'sh'), '#!/bin/sh\necho wrong\n', { mode: 0o755 });
    await assert.rejects(go('true', { interpreter: [join(workspace, 'sh')] }), { code: 'E_SHELL' });
  });

  test('says so when the program cannot be executed [S4-43] (deep)', async (t) => {
    const { sealed, go } = scene(t);
    const bad = join(sealed, 'bad');
    writeFileSync(bad, '#!/no/such/program\n', { mode: 0o500 });
    await assert.rejects(go('true', { sealed: { folder: sealed, program: bad } }), { code: 'E_SHELL' });
    assert.equal((await go('exit 127')).code, 127);
  });

  test('ends it and what it started when the signal fires [S4-47] (deep)', async (t) => {
    const { go } = scene(t);
    const controller = new AbortController();
    const running = go('echo up; (setsid sleep 876543 &); sleep 876543', {
      signal: controller.signal,
      onOutput: () => controller.abort(),
    });
    const { code, signal } = await running;
    assert.deepEqual([code, signal], [null, 'SIGKILL']);
  });

  test('says that the network is not enforced without a sandbox [S4-49]', async (t) => {
    const { go, run } = scene(t, { isolation: 'none' });
    const { networkEnforced, stdout } = await go('pwd');
    assert.deepEqual([networkEnforced, stdout], [false, `${run}\n`]);
  });
});

describe('the folder a sandboxed program starts in', () => {
  const request = {
    workspace: { path: '/w', open: () => -1 },
    writable: true,
    proxySocket: null,
    protectedPaths: [],
    folders: [{ path: '/state/run', writable: true }],
  };
  test('is below the workspace, or a folder that was lent', () => {
    assert.equal(startingFolder({ cwd: '.' }, request), '/w');
    assert.equal(startingFolder({ cwd: 'a/b' }, request), '/w/a/b');
    assert.equal(startingFolder({ cwd: '/state/run' }, request), '/state/run');
    assert.equal(startingFolder({ cwd: '/state/run/in' }, request), '/state/run/in');
  });
  for (const cwd of ['/state', '/state/runner', '/etc', '/state/run/../x', '/w']) {
    test(`is never another absolute one: ${cwd}`, () => {
      assert.throws(() => startingFolder({ cwd }, request), { code: 'E_SHELL' });
    });
  }
  test('is judged without a sandbox too', () => {
    const sandbox = createNoIsolation().enter(request);
    assert.throws(() => sandbox.confine({ program: '/bin/true', args: [], env: {}, cwd: '/etc' }), { code: 'E_SHELL' });
    assert.equal(sandbox.confine({ program: '/bin/true', args: [], env: {}, cwd: '/state/run' }).cwd, '/state/run');
  });
});
