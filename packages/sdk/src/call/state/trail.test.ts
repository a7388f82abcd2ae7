import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type EventMessage, parseServerMessage } from '@tool-runtime/protocol';
import type { ApprovalReply } from '../../contracts/policy.ts';
import { defineRule } from '../../contracts/rule.ts';
import type { RuntimeOptions } from '../../runtime.ts';
import { nothing, wait } from '../../testing/probe-tools.ts';
import { openScratchRuntime, type ScratchRuntime } from '../../testing/scratch-runtime.ts';

interface Scene extends ScratchRuntime {
  /** Everything heard, each message valid on the wire. */
  readonly heard: EventMessage[];
}

async function withScene(
  options: Partial<RuntimeOptions>,
  use: (scene: Scene) => Promise<void>,
  events: 'progress' | 'all' = 'progress',
): Promise<void> {
  const scratch = await openScratchRuntime(options);
  const heard: EventMessage[] = [];
  scratch.session.listen(
    ({ message }) => {
      assert.equal(parseServerMessage(JSON.stringify(message)).ok, true);
      heard.push(message);
    },
    { events },
  );
  try {
    await use({ ...scratch, heard });
  } finally {
    await scratch.dispose();
  }
}

const registry = (text: string) => ({ file: 'r.yaml', text: `version: 1\n${text}\n` });
const asking = registry('approvals: { require_approval: [probe_nothing] }');

describe('changes of status', () => {
  test('are not built for a listener of progress, and all of them for one of all [S0-73]', async () => {
    const options = { tools: [nothing] };
    await withScene(options, async ({ session, heard }) => {
      await session.call('probe_nothing', {});
      assert.deepEqual(heard, []);
    });
    await withScene(
      options,
      async ({ session, heard }) => {
        await session.call('probe_nothing', {}, { requestId: 'r1' });
        assert.deepEqual([...new Set(heard.map((message) => message.request_id))], ['r1']);
        assert.equal(heard.at(-1)?.data?.['status'], 'completed');
      },
      'all',
    );
  });

  test('the percentage never steps back over all events of a request, and nothing follows the end [S0-5] (deep)', () =>
    withScene(
      { tools: [wait] },
      async ({ session, heard }) => {
        await session.call('probe_wait', { ms: 1 });
        const percents = heard.map((message) => message.progress.pct);
        assert.deepEqual(
          percents,
          percents.toSorted((left, right) => left - right),
        );
        assert.deepEqual([percents.includes(90), percents.at(-1)], [true, 100]);
        heard.length = 0;
        const late = await session.call('probe_wait', { ms: 2_200, stubborn: true }, { timeoutMs: 5 });
        assert.equal(late.errors[0]?.code, 'E_TIMEOUT');
        const count = heard.length;
        await pause(400);
        assert.deepEqual([heard.length, heard.at(-1)?.data?.['status']], [count, 'failed']);
      },
      'all',
    ));
});

describe('RuleViolation', () => {
  test('names gate, rule and registry line of a refusal, with the id of the request and no secret [S0-73]', () =>
    withScene(
      {
        secrets: ['hunter2'],
        registry: registry('validators:\n  - { rule: sec.paths.sandbox, enforcement: blocking }'),
      },
      async ({ session, heard }) => {
        await session.call('file_read', { path: '../hunter2' }, { requestId: 'r1' });
        assert.deepEqual(
          heard.map(({ event, request_id }) => [event, request_id]),
          [['RuleViolation', 'r1']],
        );
        const { message, ...data } = heard[0]?.data ?? {};
        assert.deepEqual(data, {
          tool: 'file_read',
          code: 'E_POLICY',
          gate: 'rule',
          rule: 'sec.paths.sandbox',
          enforcement: 'blocking',
          registry: 'r.yaml:3',
        });
        assert.equal(typeof message, 'string');
        assert.doesNotMatch(JSON.stringify(heard), /hunter2/);
      },
    ));

  test('comes for a warning too, and the call goes on [S0-73]', () => {
    const warning = defineRule({
      id: 'test.warns',
      category: 'Test',
      trigger: 'every call',
      phase: 'before',
      description: 'Warns about everything',
      defaultEnforcement: 'warning',
      appliesTo: () => true,
      check: () => [{ message: 'not so good' }],
    });
    const text = 'validators:\n  - { rule: test.warns, enforcement: warning }';
    return withScene({ tools: [nothing], rules: [warning], registry: registry(text) }, async ({ session, heard }) => {
      const response = await session.call('probe_nothing', {});
      assert.deepEqual([response.ok, response.warnings.length], [true, 1]);
      assert.deepEqual(
        heard.map(({ event, data }) => [event, data?.['rule'], data?.['enforcement'], data?.['message']]),
        [['RuleViolation', 'test.warns', 'warning', 'not so good']],
      );
    });
  });

  test('a failure that is not a refusal announces no violation', () =>
    withScene({ tools: [wait] }, async ({ session, heard, workspace }) => {
      writeFileSync(join(workspace, 'a.txt'), 'A');
      assert.equal((await session.call('file_read', { path: 'missing.txt' })).ok, false);
      assert.equal((await session.call('file_read', { path: 'a.txt' })).ok, true);
      const cancelled = await session.call('probe_wait', { ms: 9 }, { signal: AbortSignal.abort() });
      assert.equal(cancelled.ok, false);
      assert.deepEqual(heard, []);
    }));
});

describe('approvals', () => {
  const answering = (...replies: ApprovalReply[]) => ({ ask: async () => replies.shift() as ApprovalReply });

  test('are announced when asked and when answered, with the summary and never the arguments', () =>
    withScene(
      {
        tools: [nothing],
        secrets: ['hunter2'],
        registry: asking,
        approvals: answering({ answer: 'approved', by: 'ann' }, { answer: 'denied', by: 'bob', reason: 'not hunter2' }),
      },
      async ({ session, heard }) => {
        await session.call('probe_nothing', { text: 'hunter2' }, { requestId: 'r1' });
        await session.call('probe_nothing', {}, { requestId: 'r2' });
        const facts = heard.map(({ event, request_id, data }) => [event, request_id, data?.['answer'], data?.['by']]);
        assert.deepEqual(facts, [
          ['ApprovalRequested', 'r1', undefined, undefined],
          ['ApprovalAnswered', 'r1', 'approved', 'ann'],
          ['ApprovalRequested', 'r2', undefined, undefined],
          ['ApprovalAnswered', 'r2', 'denied', 'bob'],
          ['RuleViolation', 'r2', undefined, undefined],
        ]);
        assert.equal(heard[0]?.data?.['approval_id'], heard[1]?.data?.['approval_id']);
        assert.match(String(heard[3]?.data?.['reason']), /^approval\.denied: not /);
        assert.doesNotMatch(JSON.stringify(heard), /hunter2/);
      },
    ));

  test('a question about edited arguments has an id of its own [S1-40]', () =>
    withScene(
      {
        tools: [nothing],
        registry: asking,
        approvals: answering({ answer: 'approved', by: 'ann', args: { text: 'b' } }, { answer: 'approved', by: 'ann' }),
      },
      async ({ session, heard, runtime }) => {
        assert.equal((await session.call('probe_nothing', { text: 'a' })).ok, true);
        const ids = heard.filter(({ event }) => event === 'ApprovalRequested').map(({ data }) => data?.['approval_id']);
        assert.equal(new Set(ids).size, 2);
        const records = [...runtime.records({ kind: 'approval' })];
        assert.deepEqual([...new Set(records.map((record) => record.kind === 'approval' && record.approval_id))], ids);
      },
    ));

  test('no question is counted without an approver or with a remembered yes', async () => {
    await withScene({ tools: [nothing], registry: asking }, async ({ session, heard }) => {
      await session.call('probe_nothing', {});
      assert.deepEqual(
        heard.map(({ event }) => event),
        ['RuleViolation'],
      );
    });
    const approvals = answering({ answer: 'approved_for_session', by: 'ann' });
    await withScene({ tools: [nothing], registry: asking, approvals }, async ({ session, heard }) => {
      await session.call('probe_nothing', {});
      heard.length = 0;
      assert.equal((await session.call('probe_nothing', {})).ok, true);
      assert.deepEqual(heard, []);
    });
  });
});
