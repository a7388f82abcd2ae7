import assert from 'node:assert/strict';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { CommandOutcome, ProtectedPath } from '../../contracts/commands.ts';
import { type CommandRunnerOptions, createCommandRunner } from '../commands/command-runner.ts';

type Access = ProtectedPath['access'];

/** Paths relative to the workspace. */
function open(t: TestContext, paths: Readonly<Record<string, Access>>, options: Partial<CommandRunnerOptions> = {}) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'protected-')));
  const [workspace, state] = [join(base, 'workspace'), join(base, 'state')];
  mkdirSync(workspace);
  mkdirSync(state, { mode: 0o700 });
  const protectedPaths = Object.entries(paths).map(([path, access]) => ({ path: join(workspace, path), access }));
  const common = { workspace, state, isolation: 'bubblewrap', allowedDomains: [], protectedPaths } as const;
  const runner = createCommandRunner({ ...common, ...options });
  t.after(async () => {
    await runner.close();
    rmSync(base, { recursive: true, force: true });
  });
  const run = async (script: string): Promise<CommandOutcome> => {
    const list = { pipelines: [{ operator: null, commands: [{ argv: ['sh', '-c', script], column: 1 }] }] };
    const request = { list, cwd: '.', env: {}, stdin: null, network: false, maxOutputBytes: 100_000 };
    return (await runner.start(request)).done;
  };
  const write = (path: string, content: string): void => {
    mkdirSync(dirname(join(workspace, path)), { recursive: true });
    writeFileSync(join(workspace, path), content);
  };
  return { base, workspace, run, write };
}

test('a file deep in the workspace cannot be changed, replaced or moved with a folder above it [S0-36]', async (t) => {
  const { run, write, workspace } = open(t, { 'a/b/c/registry.yaml': 'read_only' });
  write('a/b/c/registry.yaml', 'mine');
  const tries = [
    'echo x > a/b/c/registry.yaml',
    'rm a/b/c/registry.yaml',
    'mv a/b/c/registry.yaml other',
    'mv a/b/c other',
    'mv a/b other',
    'perl -e "exit !rename(q(a), q(other))"',
    'mkdir new && perl -e "exit !rename(q(a/b), q(new/b))"',
    'ln -f a/b/c/registry.yaml other && echo x > other',
  ];
  for (const attempt of tries) assert.notEqual((await run(attempt)).code, 0, attempt);
  assert.equal(readFileSync(join(workspace, 'a/b/c/registry.yaml'), 'utf8'), 'mine');
  const allowed =
    'cat a/b/c/registry.yaml; echo x > a/b/c/other; mkdir a/b/new; mv a/b/c/other a/b/c/another; rm -r a/b/new';
  const { code, stdout } = await run(allowed);
  assert.deepEqual([code, stdout.text], [0, 'mine']);
  assert.deepEqual(readdirSync(join(workspace, 'a/b/c')).sort(), ['another', 'registry.yaml']);
});

test('what is hidden cannot be read, connected to or found by another name; what lies beside it can [S0-36] (deep)', async (t) => {
  const { run, write, workspace } = open(t, { 'conf/token': 'hide', 'conf/state': 'hide', 'conf/socket': 'hide' });
  write('conf/token', 'SECRET');
  write('conf/state/key', 'SECRET');
  write('conf/plain', 'plain');
  const server = createServer((socket) => socket.end('SECRET')).listen(join(workspace, 'conf/socket'));
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => server.close());
  const connect =
    'perl -MSocket -e "socket(S, PF_UNIX, SOCK_STREAM, 0); exit !connect(S, pack(q(Sa*), 1, q(conf/socket)))"';
  for (const attempt of ['cat conf/token', 'cat conf/state/key', 'mv conf other', 'rm conf/token', connect]) {
    const { code, stdout } = await run(attempt);
    assert.notEqual(code, 0, attempt);
    assert.equal(stdout.text, '');
  }
  assert.equal((await run('grep -r SECRET . ; cat conf/plain')).stdout.text, 'plain');
  assert.equal(readFileSync(join(workspace, 'conf/token'), 'utf8'), 'SECRET');
});

test('what is hidden is hidden wherever its folder is shown, also under the name of a link [S0-36]', async (t) => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'shown-')));
  t.after(() => rmSync(base, { recursive: true, force: true }));
  mkdirSync(join(base, 'real/state'), { recursive: true });
  writeFileSync(join(base, 'real/state/key'), 'SECRET');
  writeFileSync(join(base, 'real/tool'), 'tool');
  symlinkSync('real', join(base, 'alias'));
  const protectedPaths = [{ path: join(base, 'real/state'), access: 'hide' }] as const;
  const readPaths = [join(base, 'alias'), join(base, 'real')];
  const { run } = open(t, {}, { readPaths, protectedPaths });
  const { stdout } = await run(`cat ${base}/alias/tool; grep -r SECRET ${base}`);
  assert.equal(stdout.text, 'tool');
});

test('a protected file with a second name keeps commands from starting, until it has one [S0-36]', async (t) => {
  const { run, write, workspace } = open(t, { 'registry.yaml': 'read_only', token: 'hide' });
  for (const name of ['registry.yaml', 'token']) {
    write(name, 'mine');
    linkSync(join(workspace, name), join(workspace, 'other'));
    await assert.rejects(run('echo x > other'), (thrown: Error & { code?: string; details?: object }) => {
      assert.equal(thrown.code, 'E_POLICY');
      assert.partialDeepStrictEqual(thrown.details, { kind: 'isolation_failure', reason: 'hard_linked' });
      return true;
    });
    assert.equal(readFileSync(join(workspace, name), 'utf8'), 'mine');
    rmSync(join(workspace, 'other'));
    assert.equal((await run('echo x > other')).code, 0);
    rmSync(join(workspace, 'other'));
  }
});

test('a repository may link its files: they are protected with their folder [S0-36] (deep)', async (t) => {
  const { run, write, workspace } = open(t, { '.git': 'read_only', '.git/config': 'read_only' });
  write('.git/config', 'mine');
  linkSync(join(workspace, '.git/config'), join(workspace, '.git/other'));
  assert.notEqual((await run('echo x > .git/other')).code, 0);
  assert.equal((await run('cat .git/other')).stdout.text, 'mine');
});

test('paths inside one another: the stricter protection holds, in whichever order they are named [S0-36] (deep)', async (t) => {
  const paths = { 'a/token': 'hide', a: 'read_only', 'a/b/c': 'read_only', s: 'hide', 's/d/e': 'read_only' } as const;
  for (const entries of [Object.entries(paths), Object.entries(paths).reverse()]) {
    const { run, write } = open(t, Object.fromEntries(entries));
    for (const path of ['a/token', 'a/b/c', 'a/plain', 's/d/e', 's/key']) write(path, `${path} `);
    for (const attempt of [
      'echo x > a/new',
      'echo x > a/b/new',
      'cat a/token',
      'cat s/key',
      'cat s/d/e',
      'mv a x',
      'mv s x',
    ]) {
      assert.notEqual((await run(attempt)).code, 0, attempt);
    }
    assert.equal((await run('cat a/plain a/b/c; echo x > new')).stdout.text, 'a/plain a/b/c ');
  }
});

test('what appears at a protected path is moved aside, whichever way it is made to appear [S0-36] (deep)', async (t) => {
  const { run, write, workspace } = open(t, { 'conf/tool-runtime.lock': 'read_only' });
  write('conf/plain', '');
  write('planted/tool-runtime.lock', 'evil');
  const ways = [
    'echo evil > conf/tool-runtime.lock',
    'ln -s ../planted/tool-runtime.lock conf/tool-runtime.lock',
    'mv conf other; ln -s planted conf',
    'mkdir conf; echo evil > conf/tool-runtime.lock',
  ];
  for (const way of ways) {
    const { quarantined = [] } = await run(way);
    assert.equal(quarantined.length, 1, way);
    assert.ok(existsSync(join(workspace, quarantined[0] ?? '')) || way.includes('ln -s ../'), way);
    assert.equal(existsSync(join(workspace, 'conf/tool-runtime.lock')), false, way);
  }
  assert.equal((await run('mkdir -p conf; echo x > conf/harmless')).quarantined, undefined);
});

test('commands that end at the same time do not fail over what one of them left [S0-36]', async (t) => {
  const { run, workspace } = open(t, { '.git': 'read_only' });
  const outcomes = await Promise.all(Array.from({ length: 6 }, () => run('mkdir .git; true')));
  const moved = outcomes.flatMap(({ quarantined = [] }) => quarantined);
  assert.ok(moved.length >= 1);
  assert.deepEqual(readdirSync(workspace).sort(), moved.sort());
});

test('a link on the way to a protected path keeps commands from starting [S0-36]', async (t) => {
  const { run, write, workspace } = open(t, { 'conf/registry.yaml': 'read_only' });
  write('conf/registry.yaml', 'mine');
  assert.equal((await run('true')).code, 0);
  renameSync(join(workspace, 'conf'), join(workspace, 'real'));
  symlinkSync('real', join(workspace, 'conf'));
  await assert.rejects(run('echo x > real/registry.yaml'), { code: 'E_POLICY' });
  assert.equal(readFileSync(join(workspace, 'real/registry.yaml'), 'utf8'), 'mine');
});

test('a shown path inside the workspace is shown with it, whatever a command puts there [S0-36]', async (t) => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'outside-')));
  t.after(() => rmSync(base, { recursive: true, force: true }));
  writeFileSync(join(base, 'file'), 'SECRET');
  const workspace = join(base, 'workspace');
  mkdirSync(join(workspace, 'tools'), { recursive: true });
  writeFileSync(join(workspace, 'tools/file'), 'tool');
  const { run } = open(t, {}, { workspace, protectedPaths: [], readPaths: [join(workspace, 'tools')] });
  assert.equal((await run('cat tools/file')).stdout.text, 'tool');
  await run(`mv tools other; ln -s ${base} tools`);
  assert.equal((await run('cat tools/file other/file')).stdout.text, 'tool');
});
