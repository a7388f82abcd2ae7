import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { createScratch, runCli } from '../../../test/run-cli.ts';

const WIDENING = "version: 1\nshell_allow:\n  - '^npm test$'\nside_effect_level: network\n";

describe('tool-runtime trust', () => {
  test('S0-23 grants what the registry asks for until the registry is edited', async () => {
    using scratch = createScratch();
    scratch.write('tool-runtime.yaml', WIDENING);
    const warnings = async () => (await runCli(['tools', ...scratch.options])).stderr;

    const before = await warnings();
    assert.match(before, /^warning tool-runtime\.yaml:3 Shell is not allowed by the host: \^npm test\$$/m);
    assert.match(before, /^warning tool-runtime\.yaml:4 .*side_effect_level: network$/m);
    assert.match(before, /not trusted.*tool-runtime trust/);

    const { code, stdout } = await runCli(['trust', ...scratch.options]);
    const sha256 = createHash('sha256').update(WIDENING).digest('hex');
    assert.deepEqual([code, stdout], [0, `trusted sha256 ${sha256}\n`]);
    assert.equal(await warnings(), '');

    scratch.write('tool-runtime.yaml', `${WIDENING}# edited\n`);
    assert.equal(await warnings(), before);
  });

  test('is told in JSON when asked', async () => {
    using scratch = createScratch();
    scratch.write('tool-runtime.yaml', WIDENING);
    const { stdout } = await runCli(['trust', '--json', ...scratch.options]);
    assert.match(JSON.parse(stdout).trusted, /^[0-9a-f]{64}$/);
  });

  test('ends with 2 when there is nothing to trust', async () => {
    using scratch = createScratch();
    const { code, stderr } = await runCli(['trust', ...scratch.options]);
    assert.equal(code, 2);
    assert.match(stderr, /^error E_FILE_IO Workspace has no registry: tool-runtime\.yaml/);
    const missing = await runCli(['trust', '--workspace', `${scratch.root}/missing`, '--state', scratch.state]);
    assert.equal(missing.code, 2);
    assert.match(missing.stderr, /^error Workspace is missing/);
  });
});
