import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createScratch, runCli } from '../../../test/run-cli.ts';

describe('tool-runtime revoke', () => {
  test('S0-23 takes trust back, and says when there was none', async () => {
    using scratch = createScratch();
    scratch.write('tool-runtime.yaml', 'version: 1\nside_effect_level: network\n');
    const isTrusted = async () => (await runCli(['tools', ...scratch.options])).stderr === '';
    await runCli(['trust', ...scratch.options]);
    assert.equal(await isTrusted(), true);
    const first = await runCli(['revoke', ...scratch.options]);
    assert.deepEqual([first.code, first.stdout], [0, 'revoked\n']);
    assert.equal(await isTrusted(), false);
    const second = await runCli(['revoke', '--json', ...scratch.options]);
    assert.deepEqual([second.code, second.stdout], [1, '{"revoked":false}\n']);
  });

  test('ends with 2 when there is nothing to revoke', async () => {
    using scratch = createScratch();
    const { code, stderr } = await runCli(['revoke', ...scratch.options]);
    assert.equal(code, 2);
    assert.match(stderr, /^error E_FILE_IO Workspace has no registry/);
  });
});
