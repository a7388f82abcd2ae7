import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import type { AnyTool } from '../../contracts/tool.ts';
import {
  completedOutput,
  type ExecutorContext,
  failedOutput,
  type HostExecutor,
} from '../../package/executor-registry.ts';
import type { ToolExecutionRequest } from '../../package/tool-router.ts';
import { createCounter, nothing } from '../../testing/probe-tools.ts';
import { openScratchRuntime } from '../../testing/scratch-runtime.ts';

const REF = 'executor.queue';

function recording() {
  const seen: ToolExecutionRequest[] = [];
  const executor: HostExecutor = {
    executorRef: REF,
    async execute(request, { args, runTool }: ExecutorContext) {
      seen.push(request);
      if (args['fail'] === true) return failedOutput('queue refused it', 'error.queue');
      return { ...completedOutput('ran'), data: (await runTool()) as never, external_operation_id: 'job-7' };
    },
  };
  return { seen, executor };
}

const queued = () => {
  const counter = createCounter('probe_queued');
  return { ...counter, tool: { ...counter.tool, executorRef: REF } };
};

describe('an executor of the embedding program', () => {
  test('sees the resolved call, the effect on record and the strategy of its batch [S1-21 S1-23]', async () => {
    const { seen, executor } = recording();
    const { tool, runs } = queued();
    const { session, runtime, dispose } = await openScratchRuntime({ tools: [tool], executors: [executor] });
    const strategy = { type: 'ordered_batch', max_in_flight: 2 } as const;
    const options = { idempotencyKey: 'i', dedupeKey: 'd' };
    const [answer] = await session.batch([{ tool: 'probe_queued', args: { n: 1 }, ...options }], { strategy });
    assert.deepEqual([answer?.ok, answer?.data, runs.count], [true, { n: 1, run: 1 }, 1]);
    await session.call('probe_queued', { n: 2 });
    const [first, second] = seen;
    assert.deepEqual([first?.strategy, second?.strategy], [strategy, { type: 'sequential' }]);
    const { request, route } = first?.resolved_call ?? assert.fail();
    assert.deepEqual([route.executor_ref, route.canonical_tool_name], [REF, 'probe_queued']);
    const intent = [...runtime.records({ kind: 'intent' })][0];
    assert.ok(intent?.kind === 'intent');
    assert.deepEqual(
      [request.tool_call_id, request.requested_args_refs[0]?.digest, first?.effect_intent.effect_id],
      [intent.call_id, intent.args_hash, intent.effect.effect_id],
    );
    assert.deepEqual([request.idempotency_key, first?.effect_intent.dedupe_key], ['i', 'd']);
    assert.deepEqual(first?.effect_intent.policy_refs, route.policy_refs);
    assert.doesNotMatch(JSON.stringify(seen), /"n":1/);
    const result = [...runtime.records({ kind: 'result' })][0];
    assert.equal(result?.kind === 'result' && result.effect.external_operation_id, 'job-7');
    await dispose();
  });

  test('that fails is a failed call with its reference, and its answer is held to the contract [S1-29]', async () => {
    const { executor } = recording();
    const strict: AnyTool = { ...nothing, name: 'probe_strict', data: z.strictObject({ a: z.int() }) };
    const wrong: HostExecutor = { executorRef: 'executor.wrong', execute: () => ({ ...completedOutput(''), data: 3 }) };
    const { session, dispose } = await openScratchRuntime({
      tools: [queued().tool, { ...strict, executorRef: 'executor.wrong' }],
      executors: [executor, wrong],
    });
    const failed = await session.call('probe_queued', { fail: true });
    assert.deepEqual([failed.errors[0]?.code, failed.errors[0]?.details?.['error_ref']], ['E_INTERNAL', 'error.queue']);
    assert.match((await session.call('probe_strict', {})).errors[0]?.message ?? '', /result contract/);
    await dispose();
  });

  test('that is missing keeps its tool out, and two under one ref keep the runtime from opening [S1-27 S1-37]', async () => {
    const { executor } = recording();
    const { tool, runs } = queued();
    const { session, dispose } = await openScratchRuntime({ tools: [tool] });
    const refused = await session.call('probe_queued', {});
    assert.deepEqual([refused.errors[0]?.code, runs.count], ['E_POLICY', 0]);
    assert.equal(refused.errors[0]?.details?.['reason'], 'missing.executor');
    await dispose();
    const twice = openScratchRuntime({ tools: [tool], executors: [executor, recording().executor] });
    await assert.rejects(twice, { code: 'E_VALIDATION_FAIL' });
  });
});
