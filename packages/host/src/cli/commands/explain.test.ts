import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ERROR_GUIDE } from '@tool-runtime/protocol';
import { runCli } from '../../../test/run-cli.ts';

describe('tool-runtime explain', () => {
  test('says what a code means and what helps, however it is written [S0-8]', async () => {
    for (const name of ['E_POLICY', 'e_policy']) {
      const { code, stdout } = await runCli(['explain', name]);
      assert.equal(code, 0);
      assert.match(stdout, /^code +E_POLICY\nmeaning +.*\nnext +/);
    }
    const { stdout } = await runCli(['explain', 'E_POLICY', '--json']);
    assert.deepEqual(JSON.parse(stdout), { code: 'E_POLICY', ...ERROR_GUIDE.E_POLICY });
    assert.equal(stdout.split('\n').length, 2);
  });

  test('describes a rule', async () => {
    const { code, stdout } = await runCli(['explain', 'sec.paths.sandbox', '--json']);
    const { id, description, enforced } = JSON.parse(stdout);
    assert.deepEqual([code, id, enforced], [0, 'sec.paths.sandbox', 'yes']);
    assert.ok(description.length > 10);
  });

  test('ends with 2 for a name it does not know, and lists those it knows', async () => {
    const { code, stdout, stderr } = await runCli(['explain', 'E_NOPE']);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(
      stderr,
      /^error Neither an error code nor a rule: E_NOPE\n {2}next: codes: E_FILE_IO, .*sec\.paths\.sandbox/,
    );
  });
});
