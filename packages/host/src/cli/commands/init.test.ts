import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createScratch, runCli } from '../../../test/run-cli.ts';

const PACKAGE = JSON.stringify({ name: 'x', scripts: { build: 'tsc -b', test: 'node --test', lint: 'biome lint .' } });

describe('tool-runtime init', () => {
  test('writes a registry that loads, with the commands of the project and a schema for editors (deep)', async () => {
    using scratch = createScratch();
    execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: scratch.workspace });
    scratch.write('package.json', PACKAGE);
    scratch.write('package-lock.json', '{}');
    const { code, stdout } = await runCli(['init', ...scratch.options]);
    assert.equal(code, 0);
    assert.match(stdout, /^wrote tool-runtime\.yaml and tool-runtime\.schema\.json \(for editors\), for a CI job$/m);
    const text = readFileSync(join(scratch.workspace, 'tool-runtime.yaml'), 'utf8');
    assert.match(text, /^# yaml-language-server: \$schema=\.\/tool-runtime\.schema\.json/);
    assert.match(text, /build: ['"]?npm run build/);
    const schema = JSON.parse(readFileSync(join(scratch.workspace, 'tool-runtime.schema.json'), 'utf8'));
    assert.ok('validators' in schema.properties);
    assert.equal((await runCli(['trust', ...scratch.options])).code, 0);
    const tools = await runCli(['tools', ...scratch.options]);
    assert.deepEqual([tools.code, tools.stderr], [0, '']);
  });

  test('says in five lines what the registry allows, for whom it was asked', async () => {
    for (const [profile, commands] of [
      ['agent', 'any command line, by bash inside the sandbox'],
      ['ci', '3 patterns in shell_allow, run without a shell'],
      ['reader', 'none'],
    ] as const) {
      using scratch = createScratch();
      scratch.write('package.json', PACKAGE);
      const { code, stdout } = await runCli(['init', '--for', profile, ...scratch.options]);
      const [, summary = ''] = stdout.split('it allows:\n');
      const lines = summary.split('\n').filter((line) => line.startsWith('  '));
      assert.deepEqual([code, lines.length, lines[1]], [0, 5, `  commands  ${commands}`]);
    }
    using scratch = createScratch();
    assert.equal((await runCli(['init', '--for', 'everyone', ...scratch.options])).code, 2);
  });

  test('lists toolchains, and names programs that are not there', async () => {
    using scratch = createScratch();
    scratch.write('pyproject.toml', '[tool.no-such-formatter]\n[tool.black]\n');
    const home = join(scratch.root, 'home');
    mkdirSync(join(home, '.bun/bin'), { recursive: true });
    writeFileSync(join(home, '.bun/bin/bun'), '#!/bin/sh\n', { mode: 0o755 });
    const env = { HOME: home, CARGO_HOME: '', PYENV_ROOT: '', NVM_DIR: '', JAVA_HOME: '', VIRTUAL_ENV: '', GOROOT: '' };
    const { stdout } = await runCli(['init', '--dry-run', ...scratch.options], { env });
    assert.match(stdout, /^# {3}bun: ~\/\.bun\/bin$/m);
    assert.match(stdout, /^ {2}toolchains: \[.*bun.*\]$/m);
  });

  test('never overwrites: neither by init nor in a dry run, which only prints', async () => {
    using scratch = createScratch();
    scratch.write('package.json', PACKAGE);
    const dry = await runCli(['init', '--dry-run', ...scratch.options]);
    assert.equal(dry.code, 0);
    assert.match(dry.stdout, /^version: 1$/m);
    assert.ok(!existsSync(join(scratch.workspace, 'tool-runtime.yaml')));
    scratch.write('tool-runtime.yaml', 'version: 1\n');
    const refused = await runCli(['init', ...scratch.options]);
    assert.equal(refused.code, 2);
    assert.equal(readFileSync(join(scratch.workspace, 'tool-runtime.yaml'), 'utf8'), 'version: 1\n');
  });
});
