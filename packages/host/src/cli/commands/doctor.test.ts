import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { createScratch, runCli } from '../../../test/run-cli.ts';

interface Finding {
  readonly check: string;
  readonly state: string;
  readonly message: string;
}

async function examine(options: readonly string[], env: Record<string, string> = {}) {
  const { code, stdout } = await runCli(['doctor', '--json', ...options], { env });
  const { findings } = JSON.parse(stdout) as { findings: readonly Finding[] };
  return { code, findings: new Map(findings.map((finding) => [finding.check, finding])) };
}

describe('tool-runtime doctor', () => {
  test('finds nothing wrong with a new workspace', async () => {
    using scratch = createScratch();
    const { code, findings } = await examine(scratch.options);
    assert.equal(code, 0);
    assert.deepEqual(
      ['node', 'journal', 'registry'].map((check) => findings.get(check)?.state),
      ['ok', 'ok', 'ok'],
    );
    assert.ok(findings.has('paths') && findings.has('git') && findings.get('sandbox')?.state === 'ok');
    assert.equal(findings.get('overlay')?.state, 'ok');
  });

  test('prints one line for each check', async () => {
    using scratch = createScratch();
    const { code, stdout } = await runCli(['doctor', ...scratch.options]);
    assert.equal(code, 0);
    assert.match(stdout, /^ok +node +\d+\.\d+\.\d+\n/);
    for (const line of stdout.trimEnd().split('\n')) assert.match(line, /^(?:ok|warning) +\w+ +\S/);
  });

  test('warns of programs that are missing', async () => {
    using scratch = createScratch();
    const { code, findings } = await examine(scratch.options, { PATH: scratch.root });
    assert.equal(code, 0);
    assert.equal(findings.get('git')?.state, 'warning');
    assert.match(findings.get('git')?.message ?? '', /not found/);
  });

  test('warns of a registry that is not trusted with all it asks for (deep)', async () => {
    using scratch = createScratch();
    scratch.write('tool-runtime.yaml', 'version: 1\nside_effect_level: network\n');
    const { code, findings } = await examine(scratch.options);
    assert.deepEqual([code, findings.get('registry')?.state], [0, 'warning']);
    assert.match(
      findings.get('registry')?.message ?? '',
      /^tool-runtime\.yaml is not trusted: 1 setting is ignored: tool-runtime\.yaml:2 .*network/,
    );
  });

  test('says what the registry needs and this machine does not have, with the line to add', async () => {
    using scratch = createScratch();
    const home = join(scratch.root, 'home');
    for (const program of ['.bun/bin/bun', 'bin/only-outside']) {
      mkdirSync(dirname(join(home, program)), { recursive: true });
      writeFileSync(join(home, program), '#!/bin/sh\n', { mode: 0o755 });
    }
    mkdirSync(join(scratch.workspace, '.husky'));
    execFileSync('git', ['init', '-q'], { cwd: scratch.workspace });
    execFileSync('git', ['remote', 'add', 'origin', 'https://git.example.org/a/b'], { cwd: scratch.workspace });
    const registry = join(scratch.root, 'registry.yaml');
    const text = (chains: string) =>
      `version: 1\nshell_allow: ['^bun ', '^only-outside$', '^no-such-program ', '^git status$']\nsandbox: {${chains}}\n`;
    const env = { HOME: home, PATH: `${process.env['PATH']}:${join(home, 'bin')}` };
    const messages = async (chains: string) => {
      writeFileSync(registry, text(chains));
      const { code, findings } = await examine([...scratch.options, '--registry', registry], env);
      assert.equal(code, 0);
      return (check: string) => findings.get(check)?.message ?? '';
    };
    const without = await messages('toolchains: []');
    assert.match(
      without('chains'),
      /^commands see no toolchain; not .*bun.*; to show one, add it to sandbox\.toolchains$/,
    );
    assert.match(without('programs'), /bun is at ~\/\.bun\/bin\/bun, outside the sandbox: .*toolchains: \[bun\]/);
    assert.match(without('programs'), /only-outside is at ~\/bin\/only-outside, .*path: \[~\/bin\]/);
    assert.match(without('programs'), /no-such-program is not installed/);
    assert.match(without('hooks'), /\.husky/);
    assert.match(without('remotes'), /origin at git\.example\.org/);
    const shown = await messages('toolchains: [bun], path: [~/bin]');
    assert.match(shown('chains'), /^commands see bun \(~\/\.bun\/bin\)/);
    assert.equal(shown('programs'), 'no-such-program is not installed');
    const refused = await messages('read_only: [~/.ssh, ~/bin, "/proc"]');
    assert.match(
      refused('sandbox'),
      /^sandbox\.read_only cannot show \/proc: it belongs to the system \(.*registry\.yaml:3\)/,
    );
  });

  test('reports a broken registry instead of failing with it', async () => {
    using scratch = createScratch();
    scratch.write('tool-runtime.yaml', 'version: 2\n');
    const { code, findings } = await examine(scratch.options);
    assert.deepEqual([code, findings.get('runtime')?.state], [1, 'failed']);
    assert.match(findings.get('runtime')?.message ?? '', /tool-runtime\.yaml:1:/);
  });
});
