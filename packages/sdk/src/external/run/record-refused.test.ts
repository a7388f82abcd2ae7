import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openExternalScene } from '../../../test/external-scene.ts';

const RUN = { args: ['true'] };

describe('every attempt has a run [S4-39]', () => {
  test('also one that a ceiling, a narrower registry or a parent’s policy keeps from the tool [S4-39 S4-50]', async () => {
    const scene = await openExternalScene({ tools: ['name: a'] });
    const low = await scene.runtime.openSession({ capabilities: { side_effect_level: 'read_only' } });
    const without = await scene.runtime.openSession({ registry: { text: 'version: 1\n', file: 'narrow.yaml' } });
    const child = await scene.session.openChild({ agentId: 'reader' });
    for (const session of [low, without, child])
      assert.equal((await session.call('a', RUN)).errors[0]?.code, 'E_POLICY');
    const results = scene.results();
    assert.deepEqual(
      results.map(({ status, exit_code, tool_exit_code }) => [status, exit_code, tool_exit_code]),
      [0, 1, 2].map(() => ['failure', 14, null]),
    );
    assert.deepEqual(
      results.map((result) => (result['call'] as { session_id: string }).session_id),
      [low.id, without.id, child.id],
    );
    assert.equal((await scene.session.call('a', RUN)).ok, true, 'the parent’s own call runs');
    await scene.dispose();
  });

  test('the journal names each run that began, its digest and what an auditor should see [S4-27 S4-50]', async () => {
    const scene = await openExternalScene({ tools: ['name: a', 'name: b, allow_unpinned: true'], lock: ['a'] });
    const { CI } = process.env;
    delete process.env['CI'];
    await scene.session.call('a', { args: ['result'] });
    await scene.session.call('a', { args: ['exit 3'] });
    await scene.session.call('b', RUN);
    if (CI !== undefined) process.env['CI'] = CI;
    const recorded = [...scene.runtime.records({ kind: 'result' })].map((record) =>
      record.kind === 'result' ? (record.details?.['run'] as Record<string, unknown>) : undefined,
    );
    const results = scene.results();
    assert.deepEqual(
      recorded.map((run) => [run?.['run_id'], run?.['run_digest'], run?.['exit_code']]),
      results.map(({ run_id, run_digest, exit_code }) => [run_id, run_digest, exit_code]),
    );
    assert.deepEqual(
      recorded.map((run) => run?.['audit']),
      [[], ['result_backfilled'], ['unpinned_execution', 'result_backfilled']],
    );
    await scene.dispose();
  });
});
