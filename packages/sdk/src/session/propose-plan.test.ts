import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isToolError, planVerdictSchema } from '@tool-runtime/protocol';
import type { Coordinator, CoordinatorPlan } from '../contracts/coordinator.ts';
import type { PlanRecord } from '../contracts/journal.ts';
import { replay } from '../journal/replay.ts';
import type { RuntimeOptions } from '../runtime.ts';
import { createCounter } from '../testing/probe-tools.ts';
import { openScratchRuntime, type ScratchRuntime } from '../testing/scratch-runtime.ts';

async function withScratch(
  options: Partial<RuntimeOptions>,
  use: (scratch: ScratchRuntime) => Promise<void>,
): Promise<void> {
  const scratch = await openScratchRuntime(options, { actor: 'somebody', client: 'suite/1' });
  try {
    await use(scratch);
  } finally {
    await scratch.dispose();
  }
}

const registry = (text: string) => ({ file: 'host.yaml', text: `version: 1\n${text}\n` });
const writeStep = { tool: 'file_write', args: { file: 'a.txt', content: 'the content itself' } };
const readStep = { tool: 'file_read', args: { path: 'a.txt' } };

function plansOf({ runtime }: ScratchRuntime): readonly PlanRecord[] {
  return [...runtime.records({ kind: 'plan' })].filter((record) => record.kind === 'plan');
}

describe('session.propose', () => {
  test('judges every step by the gates of a call, runs nothing, and leaves one record [S0-75]', () =>
    withScratch({ registry: registry('approvals:\n  auto_deny: [fs_delete]') }, async (scratch) => {
      const verdict = await scratch.session.propose({
        note: 'tidy up, password=hunter22222',
        steps: [
          readStep,
          writeStep,
          { tool: 'fs_delete', args: { path: 'a.txt' } },
          { tool: 'file_read', args: { path: '../outside' } },
          { tool: 'file_read', args: { path: 7 } },
          { tool: 'no_such_tool', args: {} },
        ],
      });
      assert.deepEqual(planVerdictSchema.parse(verdict), verdict);
      assert.deepEqual(
        verdict.steps.map((step) => [step.tool, step.verdict, step.reason, step.paths, step.side_effect_level]),
        [
          ['file_read', 'allow', undefined, ['a.txt'], 'read_only'],
          ['file_write', 'ask', 'approval.changes_by_default', ['a.txt'], 'workspace_write'],
          ['fs_delete', 'deny', 'E_POLICY', ['a.txt'], 'workspace_write'],
          ['file_read', 'deny', 'sec.paths.sandbox', ['../outside'], 'read_only'],
          ['file_read', 'deny', 'E_VALIDATION_FAIL', [], 'read_only'],
          ['no_such_tool', 'deny', 'unknown_tool', [], null],
        ],
      );
      assert.equal(verdict.accepted, false);
      assert.equal(verdict.steps[2]?.errors[0]?.details?.['registry'], 'host.yaml:3');
      assert.deepEqual(
        [...scratch.runtime.records()].map(({ kind }) => kind),
        ['session', 'plan'],
      );
      const [record] = plansOf(scratch);
      assert.deepEqual(
        [record?.plan_id, record?.accepted, record?.actor, record?.client, record?.note],
        [verdict.plan_id, false, 'somebody', 'suite/1', 'tidy up, password=[redacted]'],
      );
      assert.deepEqual(
        record?.steps.map(({ verdict: said, code }) => [said, code]),
        verdict.steps.map(({ verdict: said, reason }) => [said, reason]),
      );
      assert.doesNotMatch(JSON.stringify(record), /the content itself|hunter2/);
      assert.deepEqual(readdirSync(scratch.workspace), []);
      assert.equal(scratch.runtime.verify().ok, true);
      assert.deepEqual(replay(scratch.runtime.records(), { mode: 'audit' }).problems, []);
    }));

  test('what is accepted hashes as the call that follows; what is denied does not block a call [S0-75]', () =>
    withScratch({}, async (scratch) => {
      const verdict = await scratch.session.propose({ steps: [writeStep] });
      assert.deepEqual(
        [verdict.accepted, verdict.errors, verdict.warnings, verdict.coordinator],
        [true, [], [], undefined],
      );
      assert.equal(existsSync(join(scratch.workspace, 'a.txt')), false);
      const denied = await scratch.session.propose({ steps: [writeStep, { tool: 'no_such_tool', args: {} }] });
      assert.equal(denied.accepted, false);
      assert.equal((await scratch.session.call(writeStep.tool, writeStep.args)).ok, true);
      const [requested] = [...scratch.runtime.records({ kind: 'requested' })];
      assert.ok(requested?.kind === 'requested');
      assert.equal(plansOf(scratch)[0]?.steps[0]?.args_hash, requested.args_hash);
    }));

  test('takes no budget, runs no hook, reports to no budget and announces nothing [S0-75]', async () => {
    const { tool, runs } = createCounter();
    const calls: string[] = [];
    const note = (what: string) => () => void calls.push(what);
    const options: Partial<RuntimeOptions> = {
      tools: [tool],
      registry: registry('budgets: {max_calls: 1}'),
      budget: { reserve: note('reserve'), spend: note('spend') },
      hooks: [
        {
          id: 'watch',
          tools: '*',
          before: () => {
            calls.push('hook');
            return { type: 'allow' };
          },
        },
      ],
      coordinator: {
        evaluate: () => {
          calls.push('evaluate');
          return { verdict: 'allow', reason: 'x' };
        },
        spend: note('coordinator.spend'),
      },
    };
    await withScratch(options, async ({ session }) => {
      session.listen(note('event'), { events: 'all' });
      for (let round = 0; round < 3; round++) {
        assert.equal((await session.propose({ steps: [{ tool: 'probe_count', args: {} }] })).accepted, true);
      }
      assert.deepEqual([calls, runs.count], [[], 0]);
      assert.equal((await session.call('probe_count', {})).ok, true);
      assert.ok(calls.includes('hook') && calls.includes('evaluate') && calls.includes('event'));
    });
  });

  test('one to a hundred steps with names, a note of bounded length; anything else is refused [S0-75]', () =>
    withScratch({}, async ({ session, runtime }) => {
      const steps = (count: number) => Array.from({ length: count }, () => readStep);
      const refused = [
        { steps: [] },
        { steps: steps(101) },
        { steps: 'all' },
        { steps: [null] },
        { steps: [{ tool: '', args: {} }] },
        { steps: [{ tool: 'x'.repeat(600), args: {} }] },
        { steps: [readStep], note: 'x'.repeat(2001) },
        { steps: [readStep], note: 7 },
      ];
      for (const plan of refused) {
        await assert.rejects(
          session.propose(plan as Parameters<typeof session.propose>[0]),
          (thrown) => isToolError(thrown) && thrown.code === 'E_VALIDATION_FAIL',
          JSON.stringify(plan).slice(0, 80),
        );
      }
      assert.deepEqual([...runtime.records({ kind: 'plan' })], []);
      assert.equal((await session.propose({ steps: steps(100), note: 'x'.repeat(2000) })).steps.length, 100);
      for (const args of [undefined, null, 'x', () => 1, { path: Number.NaN }]) {
        const { steps: judged } = await session.propose({ steps: [{ tool: 'file_read', args }] });
        assert.equal(judged[0]?.verdict, 'deny');
      }
    }));

  test('rejects when the plan cannot be recorded, when it is cancelled, and when the session has ended [S0-75]', async () => {
    let isBroken = false;
    const options: Partial<RuntimeOptions> = {
      ports: {
        wrapParts: (parts) => ({
          ...parts,
          journal: {
            ...parts.journal,
            append: (records) => {
              if (isBroken) throw new TypeError('disk full');
              return parts.journal.append(records);
            },
          },
        }),
      },
    };
    await withScratch(options, async ({ session }) => {
      isBroken = true;
      await assert.rejects(session.propose({ steps: [readStep] }), { code: 'E_INTERNAL' });
      isBroken = false;
      assert.equal((await session.propose({ steps: [readStep] })).accepted, true);
      const cancelled = session.propose({ steps: [readStep] }, { signal: AbortSignal.abort() });
      await assert.rejects(cancelled, (thrown) => isToolError(thrown) && thrown.details['reason'] === 'cancelled');
      await session.close();
      await assert.rejects(session.propose({ steps: [readStep] }), { code: 'E_POLICY' });
    });
  });
});

describe('a session that ends while a plan is judged', () => {
  for (const cancel of [true, false]) {
    test(`${cancel ? 'cancels it when told to' : 'waits for it'} [S0-75]`, async () => {
      const asked = Promise.withResolvers<void>();
      const answer = Promise.withResolvers<{ verdict: 'allow'; reason: string }>();
      const coordinator: Coordinator = {
        proposePlan() {
          asked.resolve();
          return answer.promise;
        },
      };
      await withScratch({ coordinator }, async ({ session }) => {
        const proposed = session.propose({ steps: [readStep] });
        await asked.promise;
        const closed = session.close({ cancel });
        if (cancel) {
          await assert.rejects(proposed, (thrown) => isToolError(thrown) && thrown.details['reason'] === 'cancelled');
        } else {
          answer.resolve({ verdict: 'allow', reason: 'fine' });
          assert.equal((await proposed).accepted, true);
        }
        await closed;
      });
    });
  }
});

describe('a plan and the coordinator', () => {
  const steps = [writeStep, { tool: 'no_such_tool', args: { secret_thing: 1 } }];

  test('it sees the whole plan with the verdicts of the gates, and no raw arguments [S0-75]', async () => {
    const plans: CoordinatorPlan[] = [];
    const coordinator: Coordinator = {
      proposePlan(plan) {
        plans.push(plan);
        return { verdict: 'allow', reason: 'fine' };
      },
    };
    await withScratch({ coordinator }, async ({ session }) => {
      await session.propose({ steps, note: 'why' });
      const [plan] = plans;
      assert.deepEqual(
        [plan?.note, plan?.actor, plan?.client, plan?.sessionId],
        ['why', 'somebody', 'suite/1', session.id],
      );
      assert.deepEqual(
        plan?.steps.map(({ tool, verdict, paths, profile }) => [tool, verdict, paths, profile?.kind]),
        [
          ['file_write', 'allow', ['a.txt'], 'edit'],
          ['no_such_tool', 'deny', [], undefined],
        ],
      );
      assert.doesNotMatch(JSON.stringify(plan), /the content itself|secret_thing/);
    });
    await withScratch({ coordinator, registry: registry('coordinator: {share_args: true}') }, async ({ session }) => {
      await session.propose({ steps });
      assert.match(JSON.stringify(plans[1]), /the content itself/);
    });
  });

  for (const verdict of ['allow', 'ask', 'deny'] as const) {
    test(`its ${verdict} is answered and on record; calls are not bound by it [S0-75]`, async () => {
      const said = { verdict, reason: 'because', message: 'words' };
      await withScratch({ coordinator: { proposePlan: () => said } }, async (scratch) => {
        const answer = await scratch.session.propose({ steps: [writeStep] });
        assert.deepEqual([answer.accepted, answer.coordinator], [verdict === 'allow', said]);
        assert.deepEqual(
          answer.errors.map(({ code, details }) => [code, details?.['gate'], details?.['reason']]),
          verdict === 'deny' ? [['E_POLICY', 'coordinator', 'because']] : [],
        );
        assert.deepEqual(plansOf(scratch)[0]?.coordinator, said);
        assert.equal((await scratch.session.call(writeStep.tool, writeStep.args)).ok, true);
      });
    });
  }

  test('unreachable: a warning, or where the registry requires it a plan that is not accepted [S0-75]', async () => {
    const coordinator: Coordinator = {
      proposePlan() {
        throw new TypeError('dead');
      },
    };
    await withScratch({ coordinator }, async ({ session }) => {
      const answer = await session.propose({ steps: [writeStep] });
      assert.deepEqual([answer.accepted, answer.coordinator], [true, undefined]);
      assert.deepEqual(
        answer.warnings.map(({ details }) => [details?.['reason'], details?.['question']]),
        [['coordinator_unreachable', 'plan']],
      );
    });
    const text = 'coordinator:\n  required: [plan]';
    await withScratch({ coordinator, registry: registry(text) }, async (scratch) => {
      const answer = await scratch.session.propose({ steps: [writeStep] });
      const { reason, registry: line } = answer.errors[0]?.details ?? {};
      assert.deepEqual([answer.accepted, reason, line], [false, 'coordinator_unreachable', 'host.yaml:3']);
      assert.deepEqual(plansOf(scratch)[0]?.coordinator, { verdict: 'deny', reason: 'coordinator_unreachable' });
      assert.equal((await scratch.session.call(writeStep.tool, writeStep.args)).ok, true, 'only plans are required');
    });
  });
});
