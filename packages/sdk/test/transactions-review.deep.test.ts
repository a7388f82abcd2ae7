/** Transactions under calls at the same time, rules that look at arguments, and a commit that cannot say how it ended. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineRule } from '../src/contracts/rule.ts';
import { transactionScene } from './transaction-scene.ts';

describe('transactions of one session', () => {
  test('are no more than allowed, also when they begin at the same time', async (t) => {
    const { ask, done } = await transactionScene(t);
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask('tx_begin')));
    const refusals = answers.flatMap(({ errors }) => errors.map(({ details }) => details?.['reason']));
    assert.deepEqual(refusals, Array(4).fill('too_many_transactions'));
    await done('tx_abort');
    await done('tx_begin');
  });

  test('are judged by the arguments of every call, not of the last one of a tool', async (t) => {
    const rule = defineRule({
      id: 'test.no.drafts',
      category: 'Test',
      description: 'Drafts stay away',
      phase: 'after',
      trigger: 'every call that names a draft',
      defaultEnforcement: 'blocking',
      errorCode: 'E_VALIDATION_FAIL',
      appliesTo: ({ paths }) => paths.some(({ value }) => value.startsWith('drafts/')),
      check: () => [{ message: 'A draft was written', next: 'write elsewhere' }],
    });
    const { done, refused } = await transactionScene(t, {
      rules: [rule],
      registry: 'validators: [{ rule: test.no.drafts }]\n',
    });
    await done('tx_begin');
    await done('file_write', { path: 'drafts/one', content: '1\n', create_dirs: true });
    await done('file_write', { path: 'two', content: '2\n' });
    const error = await refused('tx_commit');
    assert.match(String(error['message']), /draft/);
    await done('tx_abort');
    await done('tx_begin');
    await done('file_write', { path: 'two', content: '2\n' });
    await done('tx_commit');
  });
});
