import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createScratch, runCli } from '../../../test/run-cli.ts';

describe('tool-runtime revoke', () => {
  test('takes trust back, and says when there was none [S0-23] (deep)', async () => {
    using scratch = createScratch();
    scratch.write('tool-runtime.yaml', 'version: 1\nside_effect_level: network\n');
    const isTrusted = async () => (await runCli(['tools', ...scratch.options])).stderr === '';
    await runCli(['trust', ...scratch.options]);
    assert.equal(await isTrusted(), true);
    const first = await runCli(['revoke', ...scratch.options]);
    assert.deepEqual([first.code, first.stdout], [0, 'revoked tool-runtime.yaml\n']);
    assert.equal(await isTrusted(), false);
    const second = await runCli(['revoke', '--json', ...scratch.options]);
    assert.deepEqual([second.code, second.stdout], [1, '{"revoked":false,"files":[]}\n']);
    const none = await runCli(['revoke', ...scratch.options]);
    assert.deepEqual([none.code, none.stdout], [1, 'it was not trusted\n']);
  });

  test('takes back the trust in the lock too [S4-46]', async () => {
    using scratch = createScratch();
    scratch.write('tool-runtime.yaml', 'version: 1\n');
    scratch.write('tool-runtime.lock', '{}');
    await runCli(['trust', ...scratch.options]);
    const { code, stdout } = await runCli(['revoke', ...scratch.options]);
    assert.deepEqual([code, stdout], [0, 'revoked tool-runtime.yaml\nrevoked tool-runtime.lock\n']);
  });

  test('ends with 2 when there is nothing to revoke', async () => {
    using scratch = createScratch();
    const { code, stderr } = await runCli(['revoke', ...scratch.options]);
    assert.equal(code, 2);
    assert.match(stderr, /^error E_FILE_IO Workspace has no registry/);
  });
});
