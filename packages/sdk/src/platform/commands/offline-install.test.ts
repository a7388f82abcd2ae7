/** `npm ci` without a network: refused while it would lose packages, by the real npm otherwise. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readScript } from '../../shell/read-script.ts';
import { openScratchRuntime } from '../../testing/scratch-runtime.ts';
import { refuseOfflineReinstall } from './offline-install.ts';

const REGISTRY = { file: 'ops.yaml', text: 'version: 1\nshell: { mode: sandboxed }\n' };

/** A project with one package from a registry that is not there, and that package installed. */
function plant(workspace: string): string {
  mkdirSync(join(workspace, 'node_modules/left'), { recursive: true });
  writeFileSync(join(workspace, 'node_modules/left/package.json'), '{"name":"left","version":"1.0.0"}');
  writeFileSync(join(workspace, 'package.json'), '{"name":"p","version":"1.0.0","dependencies":{"left":"1.0.0"}}');
  const source = join(workspace, '../left');
  mkdirSync(source, { recursive: true });
  writeFileSync(join(source, 'package.json'), '{"name":"left","version":"1.0.0"}');
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--json'], { cwd: source, encoding: 'utf8', stdio: 'pipe' }),
  );
  const resolved = 'https://packages.example/left/-/left-1.0.0.tgz';
  const locked = { version: '1.0.0', resolved, integrity: packed.integrity };
  const root = { name: 'p', version: '1.0.0', dependencies: { left: '1.0.0' } };
  const lock = { ...root, lockfileVersion: 3, requires: true, packages: { '': root, 'node_modules/left': locked } };
  writeFileSync(join(workspace, 'package-lock.json'), JSON.stringify({ ...lock, dependencies: undefined }));
  return join(source, packed.filename);
}

test('npm ci without a network does not empty node_modules when it could not fill it again (deep)', async (t) => {
  const { session, workspace, state, dispose } = await openScratchRuntime({ registry: REGISTRY });
  t.after(dispose);
  const tarball = plant(workspace);
  for (const name of ['package.json', 'package-lock.json', 'node_modules']) {
    cpSync(join(workspace, name), join(workspace, 'app', name), { recursive: true });
  }
  const installed = join(workspace, 'node_modules/left/package.json');
  for (const cmd of ['npm ci', 'cd app && npm clean-install --omit=dev', 'npm --prefix app ci']) {
    const { errors } = await session.call('shell_exec', { cmd });
    assert.deepEqual([errors[0]?.code, errors[0]?.details?.['reason']], ['E_SHELL', 'network_off'], cmd);
    assert.match(String(errors[0]?.details?.['next']), /allow_network: true.*network\.allowed_domains/);
  }
  assert.ok(existsSync(installed));
  assert.equal((await session.call('shell_exec', { cmd: 'npm ci --dry-run; npm ls' })).ok, true);

  // What npm itself would keep of the package, in the cache of this workspace.
  const [own = ''] = readdirSync(join(state, 'caches'));
  const cache = join(state, 'caches', own, 'npm');
  execFileSync('npm', ['cache', 'add', tarball, '--cache', cache], { stdio: 'pipe' });
  writeFileSync(join(workspace, 'node_modules/left/stale'), '');
  const { data, errors } = await session.call('shell_exec', { cmd: 'npm ci' });
  assert.deepEqual(errors, []);
  assert.equal((data as { code: number }).code, 0, JSON.stringify(data));
  assert.ok(!existsSync(join(workspace, 'node_modules/left/stale')), 'it was installed anew');
  assert.match(readFileSync(installed, 'utf8'), /left/);
});

test('npm ci without a network runs where there is nothing to lose, or nothing to fetch (deep)', async (t) => {
  const { session, workspace, dispose } = await openScratchRuntime({ registry: REGISTRY });
  t.after(dispose);
  plant(workspace);
  rmSync(join(workspace, 'node_modules'), { recursive: true });
  const { data, errors } = await session.call('shell_exec', { cmd: 'npm ci' });
  assert.deepEqual(errors, []);
  assert.notEqual((data as { code: number }).code, 0);
  mkdirSync(join(workspace, 'node_modules/x'), { recursive: true });
  writeFileSync(join(workspace, 'package.json'), '{"name":"p","version":"1.0.0"}');
  const root = { name: 'p', version: '1.0.0' };
  writeFileSync(
    join(workspace, 'package-lock.json'),
    JSON.stringify({ ...root, lockfileVersion: 3, packages: { '': root } }),
  );
  const second = await session.call('shell_exec', { cmd: 'npm ci' });
  assert.equal((second.data as { code: number }).code, 0, JSON.stringify(second));
});

test('an install that would delete first is found in a line, where packages are missing from the cache', (t) => {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'offline-install-')));
  t.after(() => rmSync(workspace, { recursive: true, force: true }));
  const integrity = `sha512-${Buffer.alloc(64, 1).toString('base64')}`;
  const entry = { version: '1.0.0', resolved: 'https://packages.example/left/-/left-1.0.0.tgz', integrity };
  const dev = { ...entry, integrity: `sha512-${Buffer.alloc(64, 2).toString('base64')}`, dev: true };
  mkdirSync(join(workspace, 'app/node_modules/left'), { recursive: true });
  const packages = { '': {}, 'node_modules/left': entry, 'node_modules/@a/dev': dev };
  writeFileSync(join(workspace, 'app/package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }));
  const cache = join(workspace, 'cache');
  const check = (line: string, cwd = '.') => refuseOfflineReinstall(readScript(line), { workspace, cwd, cache });
  for (const line of [
    'cd app && npm ci',
    'npm --prefix=app ci',
    'npm -C app cit',
    '(cd app; /usr/bin/npm ci --silent)',
  ])
    assert.throws(() => check(line), { code: 'E_SHELL', message: /cache lacks left, @a\/dev$/ }, line);
  for (const line of ['npm ci', 'cd app && npm ci --dry-run', 'cd app && npm install', 'echo npm ci', 'cd / && npm ci'])
    assert.doesNotThrow(() => check(line), line);
  const hex = '01'.repeat(64);
  mkdirSync(join(cache, '_cacache/content-v2/sha512/01/01'), { recursive: true });
  writeFileSync(join(cache, '_cacache/content-v2/sha512/01/01', hex.slice(4)), '');
  assert.throws(() => check('npm ci', 'app'), { message: /cache lacks @a\/dev$/ });
  assert.doesNotThrow(() => check('npm ci --omit=dev', 'app'));
});
