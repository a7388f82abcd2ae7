import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import type { CommandOutcome, CommandRequest, OpenCommandRunner } from '../../contracts/commands.ts';
import type { SandboxSettings } from '../../contracts/registry.ts';
import { showToolchains } from '../toolchains/shown-toolchains.ts';
import { createCommandRunner } from './command-runner.ts';

interface Scene {
  readonly home: string;
  readonly workspace: string;
  plant(path: string, text?: string): void;
  /** The toolchains are those of the first run. Throws what the runner throws. */
  run(argv: readonly string[], more?: Partial<CommandRequest>): Promise<CommandOutcome>;
}

/** A workspace beside a home folder with toolchains, and commands that see what the registry shows of them. */
function openScene(
  t: TestContext,
  sandbox: Partial<SandboxSettings>,
  isolation: 'bubblewrap' | 'none' = 'bubblewrap',
): Scene {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'place-')));
  const [home, workspace, state] = [join(root, 'home'), join(root, 'workspace'), join(root, 'state')];
  for (const folder of [home, workspace, state]) mkdirSync(folder, { mode: 0o700 });
  let runner: OpenCommandRunner | undefined;
  const open = (): OpenCommandRunner => {
    const registry = { sandbox: { read_only: [], path: [], caches: [], env: [], ...sandbox }, spot: () => undefined };
    const toolchains = showToolchains({ registry, workspace, state, home, env: {} });
    return createCommandRunner({ workspace, state, isolation, allowedDomains: [], toolchains });
  };
  t.after(async () => {
    await runner?.close();
    rmSync(root, { recursive: true, force: true });
  });
  return {
    home,
    workspace,
    plant(path, text = 'echo planted') {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    },
    async run(argv, more = {}) {
      runner ??= open();
      const list = { pipelines: [{ operator: null, commands: [{ argv, column: 1 }] }] };
      const request = { list, cwd: '.', env: {}, stdin: null, network: false, maxOutputBytes: 100_000, ...more };
      return (await runner.start(request)).done;
    },
  };
}

async function refusalOf(running: Promise<CommandOutcome>): Promise<string> {
  try {
    const { code, stderr } = await running;
    return `ran: ${code} ${stderr.text}`;
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    return `${thrown.message} / ${thrown.details['next']}`;
  }
}

test('programs of a toolchain in the home folder run, and can change nothing there [S0-36]', async (t) => {
  const { home, plant, run } = openScene(t, {});
  const cargo = join(home, '.cargo/bin/cargo');
  plant(
    cargo,
    `echo built by $0; cat ${home}/.rustup/settings; echo evil > ${cargo} || echo refused; echo x > ${home}/.cargo/bin/new || echo refused`,
  );
  mkdirSync(join(home, '.rustup'));
  writeFileSync(join(home, '.rustup/settings'), 'stable\n');
  const { stdout } = await run(['cargo']);
  assert.equal(stdout.text, `built by ${cargo}\nstable\nrefused\nrefused\n`);
  assert.equal(existsSync(join(home, '.cargo/bin/new')), false);
});

test('credentials beside a toolchain are not seen, whether they were there before or come later [S0-39]', async (t) => {
  const { home, plant, run } = openScene(t, { read_only: ['~/.cargo'] });
  plant(join(home, '.cargo/bin/cargo'));
  writeFileSync(join(home, '.cargo/credentials.toml'), 'token = "CANARY"\n');
  writeFileSync(join(home, '.cargo/open.toml'), 'OPEN\n');
  const read = [
    'sh',
    '-c',
    `cat ${home}/.cargo/open.toml ${home}/.cargo/credentials.toml ${home}/.cargo/.netrc; cat ${home}/.ssh/key`,
  ];
  const before = await run(read);
  assert.equal(before.stdout.text, 'OPEN\n');
  writeFileSync(join(home, '.cargo/.netrc'), 'CANARY\n');
  plant(join(home, '.ssh/key'), 'CANARY');
  const after = await run(read);
  assert.equal(after.stdout.text, 'OPEN\n');
  assert.doesNotMatch(after.stderr.text, /CANARY/);
});

test('nothing starts while the registry shows secrets; without that line it does [S0-39]', async (t) => {
  const bad = openScene(t, { read_only: ['~/.ssh'] });
  mkdirSync(join(bad.home, '.ssh'));
  assert.match(await refusalOf(bad.run(['true'])), /sandbox\.read_only cannot show ~\/\.ssh: it holds secrets/);
  const good = openScene(t, {});
  assert.equal((await good.run(['true'])).code, 0);
});

test('folders of the registry come before the system, toolchains after it, the project last', async (t) => {
  const { home, workspace, plant, run } = openScene(t, { path: ['~/own'] });
  for (const name of ['cat', 'only-own', 'both']) plant(join(home, 'own', name), `echo own ${name}`);
  for (const name of ['cat', 'ls', 'both', 'only-chain']) plant(join(home, '.bun/bin', name), `echo chain ${name}`);
  plant(join(home, '.bun/bin/bun'));
  for (const name of ['ls', 'only-chain', 'eslint'])
    plant(join(workspace, 'node_modules/.bin', name), `echo project ${name}`);
  plant(join(workspace, '.venv/bin/pytest'), 'echo project pytest');
  plant(join(workspace, 'packages/a/node_modules/.bin/tsc'), 'echo package tsc');
  const printed = async (name: string, cwd = '.') => (await run([name], { cwd })).stdout.text.trim();
  assert.equal(await printed('cat'), 'own cat');
  assert.equal(await printed('both'), 'own both');
  assert.notEqual(await printed('ls'), 'chain ls');
  assert.equal(await printed('only-chain'), 'chain only-chain');
  assert.equal(await printed('eslint'), 'project eslint');
  assert.equal(await printed('pytest', 'packages/a'), 'project pytest');
  assert.equal(await printed('tsc', 'packages/a'), 'package tsc');
  assert.match(await refusalOf(run(['tsc'])), /^Program not found: tsc/);
  const script = { pipelines: [], script: { text: 'ls; cat', words: [], seen: [], unseen: [] } };
  assert.equal((await run([], { list: script })).stdout.text, 'project ls\nown cat\n');
});

test('a file of the workspace runs by its path inside the sandbox, and never without one [S0-36]', async (t) => {
  const { workspace, home, plant, run } = openScene(t, {});
  plant(join(workspace, 'scripts/go'), 'echo ran');
  plant(join(home, 'outside'), 'echo outside');
  symlinkSync(join(home, 'outside'), join(workspace, 'scripts/leads-out'));
  assert.equal((await run(['scripts/go'])).stdout.text, 'ran\n');
  assert.equal((await run(['./go'], { cwd: 'scripts' })).stdout.text, 'ran\n');
  for (const name of ['scripts/leads-out', '../home/outside', join(workspace, 'scripts/go'), 'scripts', 'scripts/no']) {
    assert.match(await refusalOf(run([name])), /^Program (?:not found|is not visible)/, name);
  }
  const open = openScene(t, {}, 'none');
  open.plant(join(open.workspace, 'go'));
  assert.match(await refusalOf(open.run(['./go'])), /^Program not found/);
});

test('a python of a virtual environment that links into a toolchain finds it', async (t) => {
  const { workspace, home, plant, run } = openScene(t, {});
  plant(join(home, '.pyenv/versions/3.12/bin/python3.12'), 'echo python');
  mkdirSync(join(workspace, '.venv/bin'), { recursive: true });
  symlinkSync(join(home, '.pyenv/versions/3.12/bin/python3.12'), join(workspace, '.venv/bin/my-python'));
  assert.equal((await run(['my-python'])).stdout.text, 'python\n');
  const without = openScene(t, { toolchains: [] });
  without.plant(join(without.home, '.pyenv/versions/3.12/bin/python3.12'), 'echo python');
  mkdirSync(join(without.workspace, '.venv/bin'), { recursive: true });
  symlinkSync(
    join(without.home, '.pyenv/versions/3.12/bin/python3.12'),
    join(without.workspace, '.venv/bin/my-python'),
  );
  assert.match(await refusalOf(without.run(['my-python'])), /^Program is not visible in the sandbox/);
});

test('a program that only the operator can see is named with the line that shows it', async (t) => {
  const { home, plant, run } = openScene(t, {});
  plant(join(home, 'bin/only-outside'));
  const path = process.env['PATH'];
  process.env['PATH'] = `${path}:${join(home, 'bin')}`;
  t.after(() => {
    process.env['PATH'] = path;
  });
  const refusal = await refusalOf(run(['only-outside']));
  assert.equal(
    refusal,
    `Program not found: only-outside (found at ${home}/bin/only-outside, outside the sandbox) / ask the operator to add this to the registry: sandbox: { path: [${home}/bin] }`,
  );
  const { hints } = await run(['sh', '-c', 'only-outside']);
  assert.match(hints?.[0]?.message ?? '', /^Program is outside the sandbox: only-outside/);
  assert.equal((await run(['sh', '-c', 'no-such-program'])).hints, undefined);
});

test('package managers are told that there is no network, and a failure says so', async (t) => {
  const { run } = openScene(t, {});
  const { stdout, hints } = await run(['sh', '-c', 'env; echo getaddrinfo EAI_AGAIN registry >&2; exit 1']);
  for (const line of [
    'npm_config_offline=true',
    'PIP_NO_INDEX=1',
    'CARGO_NET_OFFLINE=true',
    'GOPROXY=off',
    'UV_OFFLINE=1',
  ]) {
    assert.ok(stdout.text.split('\n').includes(line), line);
  }
  assert.deepEqual(
    hints?.map(({ details }) => [details?.['reason'], String(details?.['next']).includes('allow_network')]),
    [['network_off', true]],
  );
  assert.equal((await run(['sh', '-c', 'echo EAI_AGAIN'])).hints, undefined);
  assert.equal((await run(['false'])).hints, undefined);
  const open = openScene(t, {}, 'none');
  const without = await open.run(['sh', '-c', 'env; echo EAI_AGAIN; exit 1']);
  assert.equal(without.hints, undefined);
  assert.doesNotMatch(without.stdout.text, /npm_config_offline/);
});

test('a command that would change the repository is pointed to the git tools', async (t) => {
  const { run, workspace } = openScene(t, {});
  execFileSync('git', ['init', '--quiet', workspace]);
  const { code, hints } = await run(['git', 'commit', '--allow-empty', '-m', 'x']);
  assert.notEqual(code, 0);
  assert.deepEqual(
    hints?.map(({ details }) => details?.['reason']),
    ['git_read_only'],
  );
  assert.deepEqual(await run(['git', 'status']).then(({ code, hints }) => [code, hints]), [0, undefined]);
});
