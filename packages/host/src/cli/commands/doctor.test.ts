import assert from 'node:assert/strict';
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
  });

  test('reports a broken registry instead of failing with it', async () => {
    using scratch = createScratch();
    scratch.write('tool-runtime.yaml', 'version: 2\n');
    const { code, findings } = await examine(scratch.options);
    assert.deepEqual([code, findings.get('runtime')?.state], [1, 'failed']);
    assert.match(findings.get('runtime')?.message ?? '', /tool-runtime\.yaml:1:/);
  });
});
