/** What the bundles say of the built-in tools, against the sources they were made from. */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { ensureBuilt } from '../../packages/host/test/ensure-built.ts';
import { FROM_BIN, FROM_SOURCE } from '../../packages/host/test/run-cli.ts';

const root = path.join(import.meta.dirname, '../..');

/** Lists before and after the first call of a tool, which loads it, and what a call before that would have run on. */
const PROGRAM = `
  import { createAst } from '@tool-runtime/ast';
  import { createRuntime } from '@tool-runtime/sdk';
  import { defaultRegistry, handoffSchema, registryJsonSchema } from '@tool-runtime/sdk/parts';
  const registry = { file: 'ops.yaml', text: 'version: 1\\nshell: { mode: sandboxed }\\n' };
  const runtime = await createRuntime({ workspace: process.argv[1], state: process.argv[2], ast: createAst(), registry });
  const session = await runtime.openSession();
  const before = session.tools();
  const refused = await session.call('file_read', { path: 1 });
  const missing = await session.call('ast_query', { where: { name: 'none' } });
  const strange = await session.call('file_read', { pth: 'a.txt' });
  const foreign = await session.call('Read', { file_path: 'a.txt' });
  const listed = await session.call('fs_list', { glob: '*' });
  const after = session.tools();
  const bad = { file: 'bad.yaml', text: 'version: 1\\nshell: { mode: loud }\\nexternal_tools: [{ name: A/b }]\\nlimits: { max_commands: 0 }\\n' };
  const wrong = await createRuntime({ workspace: process.argv[1], state: process.argv[2], registry: bad }).catch(({ code, message, details }) => ({ code, message, details }));
  const plain = await createRuntime({ workspace: process.argv[1], state: process.argv[2] });
  const unwritten = plain.registry.fingerprint;
  await plain.close();
  console.log(JSON.stringify({
    wrong, unwritten, defaults: defaultRegistry(), registrySchema: registryJsonSchema(),
    handoffs: [undefined, { type: 'none' }, { type: 'all' }].map((value) => handoffSchema.safeParse(value)),
    fingerprint: session.snapshot.runtime_package_fingerprint, before, after,
    answers: [refused, missing, strange, foreign].map(({ ok, errors }) => ({ ok, errors })),
    text: session.present({ tool: 'fs_list', args: { glob: '*' } }, listed).text,
  }));
  await runtime.close();
`;

test('sessions of sources and of bundles have the same tools, schemas and fingerprint, loaded or not', () => {
  ensureBuilt();
  const scratch = mkdtempSync(path.join(tmpdir(), 'tool-runtime-bundles-'));
  try {
    const state = (name: string) => path.join(scratch, name);
    const workspace = mkdtempSync(path.join(scratch, 'workspace-'));
    const run = (options: readonly string[], name: string) =>
      JSON.parse(
        execFileSync(process.execPath, [...options, '--input-type=module', '-e', PROGRAM, workspace, state(name)], {
          cwd: path.join(root, 'packages/host'),
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'ignore'],
        }),
      ) as { readonly before: readonly object[]; readonly after: readonly object[]; readonly answers: object };
    const sources = run(['-C', 'tool-runtime-source'], 'sources');
    const bundles = run([], 'bundles');
    assert.deepEqual(bundles, sources);
    assert.deepEqual(bundles.after, bundles.before);
    assert.ok(bundles.before.length > 30);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});

test('what a call loads is one file of ASCII, with the tool as another', () => {
  ensureBuilt();
  const chunks = path.join(root, 'packages/host/dist/command/chunks');
  const sizes = readdirSync(chunks).filter((name) => /\.c?js$/.test(name));
  const texts = sizes.map((name) => readFileSync(path.join(chunks, name), 'latin1'));
  const core = texts.filter((text) => /\bfunction openJournal\(/.test(text));
  assert.equal(core.length, 1);
  assert.equal(/[^\0-\x7f]/.test(core[0] ?? ''), false);
  assert.match(core[0] ?? '', /\bfunction callHere\(/);
  // The sandbox, the proxy and the schemas of messages stay away until something needs them.
  for (const late of ['openEgressProxy', 'runProgram', 'toolRequestSchema']) {
    assert.ok(
      texts.some((text) => text.includes(late)),
      late,
    );
    assert.equal(core[0]?.includes(late), false, late);
  }
});

test('commands that only describe print the same from sources and from bundles', () => {
  ensureBuilt();
  const print = (program: readonly string[], line: string) =>
    execFileSync(process.execPath, [...program, ...line.split(' ')], { cwd: root, encoding: 'utf8' });
  const lines = ['--help', 'explain file_read', 'explain ast_edit', 'explain shell_allow', 'completion bash'];
  for (const line of lines) assert.equal(print(FROM_BIN, line), print(FROM_SOURCE, line), line);
});

test('a call caches what it compiled, and a damaged or writable cache is replaced', () => {
  ensureBuilt();
  const scratch = mkdtempSync(path.join(tmpdir(), 'tool-runtime-core-cache-'));
  try {
    const workspace = mkdtempSync(path.join(scratch, 'workspace-'));
    writeFileSync(path.join(workspace, 'a.txt'), 'alpha');
    const env = { ...process.env, NODE_COMPILE_CACHE: undefined, XDG_CACHE_HOME: path.join(scratch, 'cache') };
    const line = [
      'call',
      'file_read',
      '{"path":"a.txt"}',
      '--workspace',
      workspace,
      '--state',
      path.join(scratch, 'state'),
    ];
    const call = (given: NodeJS.ProcessEnv = env): void => {
      const answer = execFileSync(process.execPath, [...FROM_BIN, ...line, '--json'], { encoding: 'utf8', env: given });
      assert.equal(JSON.parse(answer).data.content, 'alpha');
    };
    const caches = (): string[] =>
      readdirSync(env.XDG_CACHE_HOME, { recursive: true, encoding: 'utf8' }).filter((name) =>
        name.includes('-call-core-'),
      );
    call();
    const [name = '', ...others] = caches();
    assert.deepEqual([name !== '', others], [true, []]);
    const cache = path.join(env.XDG_CACHE_HOME, name);
    const written = readFileSync(cache);
    assert.ok(written.length > 500_000);

    call();
    assert.deepEqual(readFileSync(cache), written);
    writeFileSync(
      cache,
      written.map((byte, at) => (at % 997 === 0 ? byte ^ 0xff : byte)),
    );
    call();
    assert.equal(readFileSync(cache).equals(written.map((byte, at) => (at % 997 === 0 ? byte ^ 0xff : byte))), false);
    writeFileSync(cache, written.subarray(0, 1000));
    call();
    assert.ok(statSync(cache).size > 500_000);
    chmodSync(cache, 0o666);
    call();
    assert.equal(statSync(cache).mode & 0o777, 0o600);
    call({ ...env, NODE_DISABLE_COMPILE_CACHE: '1' });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});

test('a server uses the caches that one before it wrote, and leaves those of other commands alone', () => {
  ensureBuilt();
  const scratch = mkdtempSync(path.join(tmpdir(), 'tool-runtime-server-cache-'));
  try {
    const workspace = mkdtempSync(path.join(scratch, 'workspace-'));
    writeFileSync(path.join(workspace, 'a.txt'), 'alpha');
    const cache = path.join(scratch, 'cache');
    const env = { ...process.env, NODE_COMPILE_CACHE: undefined, XDG_CACHE_HOME: cache };
    const run = (command: readonly string[], input = ''): void => {
      const line = [...FROM_BIN, ...command, '--workspace', workspace, '--state', path.join(scratch, 'state')];
      execFileSync(process.execPath, line, { env, input });
    };
    const serve = () => run(['mcp'], `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`);
    const call = () => run(['call', 'file_read', 'path=a.txt']);
    const written = (): readonly string[] =>
      readdirSync(cache, { recursive: true, encoding: 'utf8' })
        .toSorted()
        .map((name) => {
          const { ino, mtimeNs } = statSync(path.join(cache, name), { bigint: true });
          return statSync(path.join(cache, name)).isFile() ? `${name} ${ino} ${mtimeNs}` : name;
        });
    serve();
    call();
    const before = written();
    assert.ok(before.some((line) => line.includes('-mcp-core-')));
    serve();
    call();
    assert.deepEqual(written(), before);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});

test('a server that is killed soon after its start leaves caches, too', async () => {
  ensureBuilt();
  const scratch = mkdtempSync(path.join(tmpdir(), 'tool-runtime-killed-cache-'));
  try {
    const workspace = mkdtempSync(path.join(scratch, 'workspace-'));
    const cache = path.join(scratch, 'cache');
    const env = { ...process.env, NODE_COMPILE_CACHE: undefined, XDG_CACHE_HOME: cache };
    const line = [...FROM_BIN, 'mcp', '--workspace', workspace, '--state', path.join(scratch, 'state')];
    const server = spawn(process.execPath, line, { env, stdio: ['pipe', 'pipe', 'inherit'] });
    const caches = (): readonly string[] =>
      existsSync(cache) ? readdirSync(cache, { recursive: true, encoding: 'utf8' }) : [];
    const isKept = (): boolean =>
      caches().some((name) => /-mcp-core-\w+\.cjs$/.test(name)) &&
      caches().filter((name) => !name.includes('-mcp-')).length > 5;
    while (!isKept()) await setTimeout(50);
    server.kill('SIGKILL');
    await once(server, 'close');
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});

test('packages that the core loads late are found without a warning, without a cache and with one', () => {
  ensureBuilt();
  const scratch = mkdtempSync(path.join(tmpdir(), 'tool-runtime-late-packages-'));
  try {
    const workspace = mkdtempSync(path.join(scratch, 'workspace-'));
    writeFileSync(path.join(workspace, 'a.txt'), 'needle\n');
    const env = { ...process.env, NODE_COMPILE_CACHE: undefined, XDG_CACHE_HOME: path.join(scratch, 'cache') };
    const folders = ['--workspace', workspace, '--state', path.join(scratch, 'state')];
    for (const given of [env, env, { ...env, NODE_DISABLE_COMPILE_CACHE: '1' }]) {
      const line = [...FROM_BIN, 'call', 'grep', 'pattern=needle', ...folders, '--json'];
      const { stdout, stderr } = spawnSync(process.execPath, line, { encoding: 'utf8', env: given });
      assert.equal(JSON.parse(stdout).data.matches[0].file, 'a.txt');
      assert.equal(stderr, '', 'no warning of Node');
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});

test('with source maps on, a stack of the core names lines of the sources', () => {
  ensureBuilt();
  const chunks = path.join(root, 'packages/host/dist/command/chunks');
  const facade = readdirSync(chunks).find(
    (name) => /^chunk-\w+\.js$/.test(name) && readFileSync(path.join(chunks, name), 'utf8').includes('openCore'),
  );
  assert.ok(facade !== undefined);
  const program = `const { parseGlob } = await import(${JSON.stringify(path.join(chunks, facade))});
    try { parseGlob(undefined); } catch (thrown) { console.log(thrown.stack); }`;
  const stack = execFileSync(process.execPath, ['--enable-source-maps', '--input-type=module', '-e', program], {
    encoding: 'utf8',
  });
  assert.match(stack, /packages\/sdk\/src\/glob\/glob-syntax\.ts:\d+/);
});
