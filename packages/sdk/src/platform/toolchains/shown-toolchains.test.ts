import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { SandboxSettings } from '../../contracts/registry.ts';
import { detectToolchains } from './detect-toolchains.ts';
import { showToolchains } from './shown-toolchains.ts';

/** A home folder with these files; a name that ends with / is a folder, `a -> b` a link. */
function openHome(t: TestContext, ...entries: readonly string[]) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'toolchains-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const [home, workspace, state] = [join(root, 'home'), join(root, 'workspace'), join(root, 'state')];
  for (const folder of [home, workspace, state]) mkdirSync(folder);
  for (const entry of entries) {
    const [name = '', target] = entry.split(' -> ');
    const path = join(home, name);
    mkdirSync(name.endsWith('/') ? path : dirname(path), { recursive: true });
    if (target !== undefined) symlinkSync(target.replace('~', home), path);
    else if (!name.endsWith('/')) writeFileSync(path, '#!/bin/sh\n', { mode: 0o755 });
  }
  const show = (sandbox: Partial<SandboxSettings> = {}, env: Record<string, string> = {}) => {
    const registry = { sandbox: { read_only: [], path: [], caches: [], env: [], ...sandbox }, spot: () => undefined };
    const shown = showToolchains({ registry, workspace, state, home, env });
    const below = (paths: readonly string[]) => paths.map((path) => path.replace(`${home}/`, '~/'));
    return { ...shown, readPaths: below(shown.readPaths), last: below(shown.last), first: below(shown.first) };
  };
  return { root, home, workspace, state, show };
}

test('toolchains are found where they install themselves', (t) => {
  const { home } = openHome(
    t,
    '.cargo/bin/cargo',
    '.rustup/',
    '.nvm/versions/node/v9.1.0/bin/node',
    '.nvm/versions/node/v20.2.0/bin/node',
    '.nvm/versions/node/v22.0.0/bin/node',
    '.local/share/fnm/node-versions/v20/installation/bin/node',
    '.local/share/fnm/aliases/default -> ~/.local/share/fnm/node-versions/v20/installation',
    '.volta/bin/node',
    '.bun/bin/bun',
    '.deno/bin/deno',
    '.pyenv/versions/3.12/bin/python3',
    '.pyenv/shims/python3',
    '.local/bin/uv',
    'miniconda3/conda-meta/',
    'miniconda3/bin/conda',
    'go/bin/gopls',
    '.sdkman/candidates/java/current/bin/java',
    '.rbenv/versions/3.3/bin/ruby',
    '.rbenv/shims/ruby',
    '.rvm/rubies/default/bin/ruby',
  );
  const found = detectToolchains({ env: {}, home });
  assert.deepEqual(
    found.map(({ name }) => name),
    ['rust', 'nvm', 'fnm', 'volta', 'bun', 'deno', 'pyenv', 'uv', 'conda', 'go', 'sdkman', 'rbenv', 'rvm'],
  );
  const pathOf = (name: string) =>
    found.find((one) => one.name === name)?.path.map((path) => path.slice(home.length + 1));
  assert.deepEqual(pathOf('nvm'), ['.nvm/versions/node/v22.0.0/bin']);
  writeAlias(home, '20\n');
  const again = detectToolchains({ env: {}, home }).find(({ name }) => name === 'nvm');
  assert.deepEqual(again?.path, [join(home, '.nvm/versions/node/v20.2.0/bin')]);
});

function writeAlias(home: string, text: string): void {
  mkdirSync(join(home, '.nvm/alias'), { recursive: true });
  writeFileSync(join(home, '.nvm/alias/default'), text);
}

test('variables say where toolchains are, and are passed on where programs need them', (t) => {
  const { home } = openHome(t, 'rust/cargo/bin/cargo', 'rust/up/', 'env/pyvenv.cfg', 'env/bin/python', 'jdk/bin/java');
  const env = {
    CARGO_HOME: join(home, 'rust/cargo'),
    RUSTUP_HOME: join(home, 'rust/up'),
    VIRTUAL_ENV: join(home, 'env'),
    JAVA_HOME: join(home, 'jdk'),
    PYENV_ROOT: join(home, 'missing'),
    GOROOT: 'relative',
  };
  const found = detectToolchains({ env, home }).filter(({ name }) => name !== 'go');
  assert.deepEqual(
    found.map(({ name, env: passed }) => [name, passed]),
    [
      ['rust', { RUSTUP_HOME: env.RUSTUP_HOME }],
      ['venv', {}],
      ['java', { JAVA_HOME: env.JAVA_HOME }],
    ],
  );
});

test('the registry chooses: all, some, none, and folders of its own', (t) => {
  const { show } = openHome(t, '.cargo/bin/cargo', '.rustup/', '.bun/bin/bun', 'tools/bin/x', 'data/');
  assert.deepEqual(show().readPaths, ['~/.cargo/bin', '~/.rustup', '~/.bun/bin']);
  assert.deepEqual(show({ toolchains: ['bun'] }).readPaths, ['~/.bun/bin']);
  assert.deepEqual(show({ toolchains: ['bun'] }).last, ['~/.bun/bin']);
  assert.deepEqual(show({ toolchains: [] }).readPaths, []);
  const own = show({ toolchains: [], read_only: ['~/data', '~/missing'], path: ['~/tools/bin'] });
  assert.deepEqual([own.readPaths, own.first, own.last], [['~/data', '~/missing', '~/tools/bin'], ['~/tools/bin'], []]);
});

test('a program that is a link brings its installation along, but never what must not be seen', (t) => {
  const { show } = openHome(
    t,
    '.local/share/uv/tools/ruff/bin/ruff',
    '.local/share/uv/tools/ruff/bin/python -> ~/pythons/3.12/bin/python3.12',
    'pythons/3.12/bin/python3.12',
    'single/tool.sh',
    '.ssh/id_ed25519',
    '.aws/bin/credentials-helper',
    'bin/ruff -> ~/.local/share/uv/tools/ruff/bin/ruff',
    'bin/tool -> ../single/tool.sh',
    'bin/key -> ~/.ssh/id_ed25519',
    'bin/helper -> ~/.aws/bin/credentials-helper',
    'bin/home -> ~',
    'bin/gone -> ~/nowhere',
    'bin/sh -> /bin/sh',
  );
  assert.deepEqual(
    show({ toolchains: [], path: ['~/bin'] }).readPaths.toSorted(),
    ['~/.local/share/uv/tools/ruff', '~/bin', '~/pythons/3.12', '~/single/tool.sh'].toSorted(),
  );
});

test('what holds secrets cannot be shown, and the registry line is refused; its neighbour can [S0-39]', (t) => {
  const { root, home, workspace, state, show } = openHome(
    t,
    '.ssh/id_ed25519',
    '.aws/credentials',
    '.gnupg/',
    '.config/gh/hosts.yml',
    '.config/nvm/versions/node/v20/bin/node',
    '.local/share/keyrings/login',
    '.local/share/uv/python/',
    '.npmrc',
    '.netrc',
    '.docker/config.json',
    '.cargo/credentials.toml',
    '.cargo/bin/cargo',
    'tools/bin/x',
    'link -> ~/.ssh',
  );
  mkdirSync(join(workspace, 'vendor'));
  const refused = [
    ...['~/.ssh', '~/.ssh/id_ed25519', '~/.aws', '~/.gnupg', '~/.config', '~/.config/gh', '~/.local', '~/.npmrc'],
    ...['~/.netrc', '~/.docker', '~/.cargo/credentials.toml', '~/link', '~/.local/share'],
    ...[home, root, state, join(state, '.'), workspace, join(workspace, 'vendor')],
    ...['/proc', '/proc/self', '/run', '/etc', '/etc/ssl', '/dev', '/tmp', '/var', '/home'],
  ];
  for (const path of refused) {
    const { problem, readPaths } = show({ toolchains: [], read_only: [path] });
    assert.match(problem?.problem ?? `shown: ${path}`, /^sandbox\.read_only cannot show /);
    assert.deepEqual(readPaths, [], path);
    assert.ok(show({ toolchains: [], path: [path] }).problem !== undefined, path);
  }
  assert.match(show({ read_only: [home] }).problem?.problem ?? '', /it is the home folder, or holds it$/);
  for (const path of ['~/tools', '~/.cargo', '~/.cargo/bin', '~/.config/nvm', '~/.local/share/uv', '/usr/lib']) {
    assert.equal(show({ toolchains: [], read_only: [path] }).problem, undefined, path);
  }
  assert.ok(show({ toolchains: [], read_only: ['~/.cargo'] }).secrets.includes(join(home, '.cargo/credentials.toml')));
});

test('a socket that a variable names is not shown', (t) => {
  const { home, show } = openHome(t, 'agent/socket', 'tools/bin/x');
  const env = { SSH_AUTH_SOCK: join(home, 'agent/socket'), DBUS_SESSION_BUS_ADDRESS: `unix:path=${home}/bus,guid=1` };
  assert.ok(show({ read_only: ['~/agent'] }, env).problem !== undefined);
  assert.equal(show({ read_only: ['~/agent'] }).problem, undefined);
  assert.equal(show({ read_only: ['~/tools'] }, env).problem, undefined);
});

test('a toolchain that lies among secrets or in the workspace is left out, the others stay', (t) => {
  const { workspace, home, show } = openHome(t, '.ssh/bun/bin/bun', '.cargo/bin/cargo');
  mkdirSync(join(workspace, 'env'));
  writeFileSync(join(workspace, 'env/pyvenv.cfg'), '');
  const env = { BUN_INSTALL: join(home, '.ssh/bun'), VIRTUAL_ENV: join(workspace, 'env') };
  assert.deepEqual(show({}, env).readPaths, ['~/.cargo/bin']);
});
