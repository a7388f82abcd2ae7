import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ToolError, ToolResponse } from '@tool-runtime/protocol';
import type { CallIdentity, Coordinator, CoordinatorCall, SpentAmount } from '../src/contracts/coordinator.ts';
import type { RuntimeOptions } from '../src/runtime.ts';
import { createCounter } from '../src/testing/probe-tools.ts';
import { openScratchRuntime, type ScratchRuntime } from '../src/testing/scratch-runtime.ts';
import { recordScenario } from './recorded-scenario.ts';

const allow = { verdict: 'allow', reason: 'fine' } as const;
const deny = { verdict: 'deny', reason: 'freeze.release', message: 'no changes before Monday' } as const;

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
const write = ({ session }: ScratchRuntime, args = {}) =>
  session.call('file_write', { path: 'a.txt', content: 'A', ...args });
const wasWritten = ({ workspace }: ScratchRuntime) => existsSync(join(workspace, 'a.txt'));
const reasonOf = ({ errors }: ToolResponse) => errors[0]?.details?.['reason'];
const warningsOf = ({ warnings }: ToolResponse) =>
  warnings.map(({ code, details }) => [code, details?.['reason'], details?.['question'], details?.['why']]);

/** Kind and gist of the records of calls. */
function decisions({ runtime }: ScratchRuntime): readonly unknown[] {
  return [...runtime.records()].flatMap((record) =>
    record.kind === 'decision' ? [[record.outcome, record.gate, record.code]] : [],
  );
}

describe('without a coordinator', () => {
  test('every record is to the byte what it was before there were coordinators [S0-1 S0-75]', async () => {
    const before = readFileSync(new URL('fixtures/records-without-coordinator.jsonl', import.meta.url), 'utf8');
    assert.deepEqual(await recordScenario(), before.trimEnd().split('\n'));
  });

  test('the comparison can fail: an allowing coordinator shows in the decisions [S0-75]', async () => {
    const records = await recordScenario({ coordinator: { evaluate: () => allow } });
    assert.ok(records.some((record) => record.includes('"gate":"coordinator"')));
    assert.ok(!(await recordScenario()).some((record) => record.includes('coordinator')));
  });

  test('a registry that requires one refuses with its line; without that line the twin runs [S0-75]', async () => {
    await withScratch({ registry: registry('coordinator:\n  required: true') }, async (scratch) => {
      const refused = await write(scratch);
      const { gate, reason, question, registry: line, next } = refused.errors[0]?.details ?? {};
      assert.equal(refused.errors[0]?.code, 'E_POLICY');
      assert.deepEqual([gate, reason, question, line], ['coordinator', 'coordinator_missing', 'policy', 'host.yaml:3']);
      assert.equal(typeof next, 'string');
      assert.equal(wasWritten(scratch), false);
    });
    await withScratch({ registry: registry('coordinator:\n  required: []') }, async (scratch) => {
      assert.equal((await write(scratch)).ok, true);
    });
  });

  test('a session registry may require one that the host does not [S0-75]', () =>
    withScratch({}, async ({ runtime, workspace, session }) => {
      const text = 'version: 1\ncoordinator: {required: [budget]}\n';
      const strict = await runtime.openSession({ registry: { file: 'session.yaml', text } });
      const refused = await strict.call('file_write', { path: 'a.txt', content: 'A' });
      assert.equal(reasonOf(refused), 'coordinator_missing');
      assert.equal(refused.errors[0]?.details?.['registry'], 'session.yaml:2');
      assert.equal(existsSync(join(workspace, 'a.txt')), false);
      assert.equal((await session.call('file_write', { path: 'a.txt', content: 'A' })).ok, true);
    }));
});

describe('what the coordinator says', () => {
  test('a policy that denies refuses before anything runs, on record with its code; the twin runs [S0-75]', () =>
    withScratch(
      { coordinator: { evaluate: ({ paths }) => (paths.includes('a.txt') ? deny : allow) } },
      async (scratch) => {
        const refused = await write(scratch);
        const { gate, reason, next } = refused.errors[0]?.details ?? {};
        assert.deepEqual([refused.errors[0]?.code, gate, reason], ['E_POLICY', 'coordinator', 'freeze.release']);
        assert.match(refused.errors[0]?.message ?? '', /Coordinator refused the call: no changes before Monday/);
        assert.equal(typeof next, 'string');
        assert.equal(wasWritten(scratch), false);
        assert.equal((await write(scratch, { path: 'b.txt' })).ok, true);
        assert.deepEqual(decisions(scratch), [
          ['deny', 'coordinator', 'freeze.release'],
          ['allow', 'coordinator', 'fine'],
        ]);
      },
    ));

  test('a budget that denies refuses before anything runs and is not told of a spending; the twin is [S0-75]', async () => {
    const spent: [CallIdentity, SpentAmount][] = [];
    const coordinator: Coordinator = {
      reserve: ({ paths }) => (paths.includes('a.txt') ? { verdict: 'deny', reason: 'budget.spent' } : allow),
      spend: (call, used) => spent.push([call, used]),
    };
    await withScratch({ coordinator }, async (scratch) => {
      const refused = await write(scratch);
      assert.deepEqual([refused.errors[0]?.code, reasonOf(refused)], ['E_POLICY', 'budget.spent']);
      assert.equal(wasWritten(scratch), false);
      assert.equal(spent.length, 0);
      assert.equal((await write(scratch, { path: 'b.txt' })).ok, true);
      assert.deepEqual(
        spent.map(([call, used]) => [call.tool, call.actor, call.client, used.bytes, used.status, Object.keys(used)]),
        [['file_write', 'somebody', 'suite/1', 1, 'completed', ['bytes', 'durationMs', 'status']]],
      );
    });
  });

  test('every reservation is followed by one report, whatever becomes of the call [S0-75]', async () => {
    const { tool } = createCounter();
    const spent: string[] = [];
    const coordinator: Coordinator = { reserve: () => allow, spend: (_, { status }) => spent.push(status) };
    await withScratch({ coordinator, tools: [tool] }, async ({ session }) => {
      await session.call('probe_count', {}, { idempotencyKey: 'k' });
      await session.call('probe_count', {}, { idempotencyKey: 'k' });
      await session.call('probe_count', { n: 1 }, { idempotencyKey: 'k' });
      await session.call('probe_count', { fail: true });
      await session.call('no_such_tool', {});
      assert.deepEqual(spent, ['completed', 'completed', 'denied_before_execution', 'failed']);
    });
  });

  test('a report that throws changes nothing and is told to the embedding program [S0-75]', async () => {
    const told: ToolError[] = [];
    const coordinator: Coordinator = {
      spend() {
        throw new TypeError('full');
      },
    };
    await withScratch({ coordinator, onUnexpected: (error) => told.push(error) }, async (scratch) => {
      assert.equal((await write(scratch)).ok, true);
      assert.match(String(told[0]?.cause), /full/);
    });
  });

  test('ask goes to the approval broker: yes runs, no and a missing approver do not [S0-75]', async () => {
    const coordinator: Coordinator = { evaluate: () => ({ verdict: 'ask', reason: 'after.hours' }) };
    for (const answer of ['approved', 'denied', undefined] as const) {
      const questions: string[] = [];
      const approvals = {
        ask: async ({ reason }: { reason: string }) => {
          questions.push(reason);
          return { answer: answer ?? 'denied', by: 'somebody' };
        },
      };
      await withScratch({ coordinator, ...(answer === undefined ? {} : { approvals }) }, async (scratch) => {
        assert.equal((await write(scratch)).ok, answer === 'approved');
        assert.equal(wasWritten(scratch), answer === 'approved');
        assert.deepEqual(questions, answer === undefined ? [] : ['coordinator.after.hours']);
        assert.deepEqual(decisions(scratch)[0], ['ask', 'approval', 'coordinator.after.hours']);
      });
    }
  });

  test('its no counts although an approver would say yes [S0-75]', async () => {
    const approvals = { ask: () => assert.fail('nobody should be asked') };
    const options = { coordinator: { evaluate: () => deny }, approvals, registry: registry('approvals: {}') };
    await withScratch(options, async (scratch) => {
      assert.equal(reasonOf(await write(scratch)), 'freeze.release');
    });
  });

  test('it is asked on the final arguments, after the gates of the runtime, and a hook cannot hide from it [S0-75]', async () => {
    const seen: string[] = [];
    const coordinator: Coordinator = {
      evaluate: ({ paths }) => {
        seen.push(`policy ${paths}`);
        return allow;
      },
      reserve: ({ paths }) => {
        seen.push(`budget ${paths}`);
        return allow;
      },
    };
    const hooks = [
      {
        id: 'elsewhere',
        tools: 'file_write',
        before: () => ({ type: 'modify' as const, args: { path: 'b.txt', content: 'B' } }),
      },
    ];
    await withScratch({ coordinator, hooks }, async (scratch) => {
      await write(scratch);
      await scratch.session.call('file_read', { path: '../outside' });
      assert.deepEqual(seen, ['policy b.txt', 'budget b.txt']);
    });
  });

  test('its texts are redacted and cut before they are shown [S0-75]', async () => {
    const message = `the password=hunter22222 is wrong ${'x'.repeat(1900)}`;
    const coordinator: Coordinator = { evaluate: () => ({ ...deny, message }) };
    await withScratch({ coordinator }, async (scratch) => {
      const refused = await write(scratch);
      assert.doesNotMatch(JSON.stringify([refused, ...scratch.runtime.records()]), /hunter2/);
      assert.ok((refused.errors[0]?.message.length ?? 0) < 600);
    });
  });
});

describe('what the coordinator is shown', () => {
  const calls: CoordinatorCall[] = [];
  const coordinator: Coordinator = {
    evaluate(call) {
      calls.push(call);
      // What a coordinator does to its view changes nothing.
      Object.assign(call, { tool: 'other' });
      if (call.args !== undefined) Object.assign(call.args, { path: 'b.txt' });
      return allow;
    },
  };

  test('hashes, summaries and paths, and never raw arguments [S0-75]', async () => {
    calls.length = 0;
    await withScratch({ coordinator }, async (scratch) => {
      assert.equal((await write(scratch, { content: 'the content itself' })).ok, true);
      const [call] = calls;
      assert.equal(call?.args, undefined);
      assert.doesNotMatch(JSON.stringify(call), /the content itself/);
      assert.deepEqual([call?.paths, call?.actor, call?.client], [['a.txt'], 'somebody', 'suite/1']);
      assert.match(call?.argsHash ?? '', /^hmac-sha256:/);
      assert.match(call?.argsSummary ?? '', /a\.txt/);
      assert.equal(call?.profile.side_effect_level, 'workspace_write');
      assert.equal(call?.sessionId, scratch.session.id);
    });
  });

  test('a copy of the arguments where the registry shares them; a session may switch that off, not on [S0-75]', async () => {
    calls.length = 0;
    const shared = registry('coordinator: {share_args: true}');
    await withScratch({ coordinator, registry: shared }, async (scratch) => {
      assert.equal((await write(scratch)).ok, true);
      assert.equal(calls[0]?.args?.['content'], 'A');
      assert.equal(wasWritten(scratch), true, 'the call ran as it was judged');
      const text = 'version: 1\ncoordinator: {share_args: false}\n';
      const closed = await scratch.runtime.openSession({ registry: { file: 's.yaml', text } });
      await closed.call('file_read', { path: 'a.txt' });
      assert.equal(calls[1]?.args, undefined);
    });
    await withScratch({ coordinator }, async ({ runtime }) => {
      const text = 'version: 1\ncoordinator: {share_args: true}\n';
      await assert.rejects(runtime.openSession({ registry: { file: 's.yaml', text } }), /Arguments are not shared/);
    });
  });
});

describe('a coordinator that cannot be reached', () => {
  const broken: Readonly<Record<string, () => unknown>> = {
    threw: () => {
      throw new TypeError('secret detail');
    },
    timed_out: () => new Promise(() => {}),
    malformed: () => ({ verdict: 'maybe' }),
  };

  for (const [why, answer] of Object.entries(broken)) {
    const coordinator = { evaluate: answer, reserve: answer } as unknown as Coordinator;
    test(`not required (${why}): the call goes on with warnings, and the cause goes to the embedding program [S0-75]`, async () => {
      const told: ToolError[] = [];
      const options = { coordinator, registry: registry('coordinator: {timeout_ms: 5}') };
      await withScratch({ ...options, onUnexpected: (error) => told.push(error) }, async (scratch) => {
        const response = await write(scratch);
        assert.equal(response.ok, true);
        assert.deepEqual(warningsOf(response), [
          ['E_POLICY', 'coordinator_unreachable', 'policy', why],
          ['E_POLICY', 'coordinator_unreachable', 'budget', why],
        ]);
        assert.doesNotMatch(JSON.stringify([response, ...scratch.runtime.records()]), /secret detail/);
        assert.equal(told.length, 2);
        assert.deepEqual(decisions(scratch), [['allow', 'policy', 'tool.policy.allowed']]);
      });
    });

    for (const question of ['policy', 'budget']) {
      test(`${question} required (${why}): refused with the line of the registry, and nothing runs [S0-75]`, () => {
        const lines = `coordinator:\n  timeout_ms: 5\n  required:\n    - ${question}`;
        return withScratch({ coordinator, registry: registry(lines) }, async (scratch) => {
          const refused = await write(scratch);
          const { reason, why: told, registry: line, retry } = refused.errors[0]?.details ?? {};
          assert.deepEqual([refused.errors[0]?.code, reason, told], ['E_POLICY', 'coordinator_unreachable', why]);
          assert.deepEqual([line, retry], ['host.yaml:5', 'retryable']);
          assert.equal(wasWritten(scratch), false);
          const decision = [...scratch.runtime.records({ kind: 'decision' })][0];
          assert.ok(decision?.kind === 'decision');
          assert.deepEqual(
            [decision.outcome, decision.gate, decision.code, decision.registry],
            ['deny', 'coordinator', 'coordinator_unreachable', 'host.yaml:5'],
          );
        });
      });
    }
  }

  test('is left alone for a while where it is not required, by all sessions, and asked again later [S0-75]', async () => {
    const time = { now: 0 };
    const asked: string[] = [];
    let isDead = true;
    const coordinator: Coordinator = {
      evaluate: ({ sessionId }) => {
        asked.push(sessionId);
        if (isDead) throw new TypeError('dead');
        return allow;
      },
    };
    const ports = { clock: { now: () => 0, monotonic: () => time.now } };
    await withScratch({ coordinator, ports }, async (scratch) => {
      const second = await scratch.runtime.openSession();
      await write(scratch);
      assert.deepEqual(warningsOf(await write(scratch)), [['E_POLICY', 'coordinator_unreachable', 'policy', 'paused']]);
      assert.equal((await second.call('file_read', { path: 'a.txt' })).warnings.length, 1);
      assert.equal(asked.length, 1);
      time.now = 1_000;
      isDead = false;
      assert.deepEqual((await write(scratch)).warnings, []);
      assert.deepEqual((await write(scratch)).warnings, []);
      assert.equal(asked.length, 3);
    });
  });

  test('is asked every time where it is required, and its word counts as soon as it is back [S0-75]', async () => {
    let asked = 0;
    const coordinator: Coordinator = {
      evaluate() {
        asked += 1;
        if (asked < 3) throw new TypeError('dead');
        return allow;
      },
    };
    await withScratch({ coordinator, registry: registry('coordinator: {required: [policy]}') }, async (scratch) => {
      const answers = [await write(scratch), await write(scratch), await write(scratch)];
      assert.deepEqual(
        answers.map(({ ok }) => ok),
        [false, false, true],
      );
    });
  });

  test('one question may fail while the other is answered [S0-75]', async () => {
    const coordinator: Coordinator = {
      evaluate: () => allow,
      reserve() {
        throw new TypeError('dead');
      },
    };
    await withScratch({ coordinator, registry: registry('coordinator: {required: [policy]}') }, async (scratch) => {
      const response = await write(scratch);
      assert.equal(response.ok, true);
      assert.deepEqual(warningsOf(response), [['E_POLICY', 'coordinator_unreachable', 'budget', 'threw']]);
    });
  });

  test('a call that is cancelled while it waits for the word is cancelled, not warned [S0-75]', async () => {
    const stop = new AbortController();
    const coordinator: Coordinator = {
      evaluate: () => {
        stop.abort();
        return new Promise(() => {});
      },
    };
    await withScratch({ coordinator }, async (scratch) => {
      const args = { path: 'a.txt', content: 'A' };
      const response = await scratch.session.call('file_write', args, { signal: stop.signal });
      assert.deepEqual([response.ok, reasonOf(response)], [false, 'cancelled']);
      assert.equal(wasWritten(scratch), false);
    });
  });

  test('a budget that answers ask has not answered [S0-75]', async () => {
    const coordinator = { reserve: () => ({ verdict: 'ask', reason: 'x' }) } as unknown as Coordinator;
    await withScratch({ coordinator, registry: registry('coordinator: {required: [budget]}') }, async (scratch) => {
      const refused = await write(scratch);
      assert.deepEqual(
        [reasonOf(refused), refused.errors[0]?.details?.['why']],
        ['coordinator_unreachable', 'malformed'],
      );
    });
  });
});
