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

  test('knows tools, registry keys and reasons', async () => {
    for (const [name, words] of [
      [
        'file_read',
        /^tool +file_read\nsummary +.*\npolicy +.*\narguments +path, .*\nnext +tool-runtime tools file_read/,
      ],
      ['ast_query', /^tool +ast_query/],
      ['limits.max_answer_tokens', /^key +limits\.max_answer_tokens\nmeaning +.*\ntype +integer\ndefault +25000/],
      ['not_allowlisted', /^reason +not_allowlisted\nmeaning +.*shell_allow.*\nnext +/],
    ] as const) {
      const { code, stdout } = await runCli(['explain', name]);
      assert.equal(code, 0, name);
      assert.match(stdout, words);
    }
  });

  test('ends with 2 for a name it does not know, and names the nearest', async () => {
    for (const [name, nearest] of [
      ['E_POLIC', 'E_POLICY'],
      ['file_raed', 'file_read'],
      ['limits.max_job', 'limits.max_jobs'],
    ] as const) {
      const { code, stdout, stderr } = await runCli(['explain', name]);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, new RegExp(`^error Not an error code, .*: ${name}\n {2}next: did you mean ${nearest}\\?`));
    }
  });
});
