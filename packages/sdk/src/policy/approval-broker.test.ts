import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError, type JsonObject } from '@tool-runtime/protocol';
import type { JournalRecord } from '../contracts/journal.ts';
import type { ApprovalDispatcher, ApprovalReply, ApprovalRequest, CallView } from '../contracts/policy.ts';
import { type ApprovalQuestion, createApprovalBroker } from './approval-broker.ts';

const view: CallView = {
  callId: 'call-1',
  sessionId: 'session-1',
  tool: 'file_write',
  args: { path: 'a' },
  argsSummary: 'path=a',
  profile: { kind: 'edit', side_effect_level: 'workspace_write', effect: 'write', risk: 'medium' },
  mutationClass: 'workspace_write',
  paths: ['a'],
  actor: 'tester',
  policyRefs: [{ kind: 'approval', id: 'policy.approval' }],
  source: { kind: 'extension', id: 'extension-1', trust: 'external', privacy: 'internal' },
  destination: { kind: 'tool', id: 'file_write' },
};
const question: ApprovalQuestion = {
  approvalId: 'approval-1',
  call: view,
  reason: 'approval.require_approval',
  allowedAnswers: ['approved', 'approved_for_session', 'denied'],
  timeoutMs: 60_000,
};
const never = new AbortController().signal;

type Answer = (request: ApprovalRequest, signal: AbortSignal) => unknown;

function setUp(answer?: Answer, failing: (record: JournalRecord) => boolean = () => false) {
  const records: JournalRecord[] = [];
  const asked: ApprovalRequest[] = [];
  const dispatcher: ApprovalDispatcher | undefined = answer && {
    async ask(request, signal) {
      asked.push(request);
      return (await answer(request, signal)) as ApprovalReply;
    },
  };
  const broker = createApprovalBroker({
    dispatcher,
    journalAppend(appended) {
      if (appended.some(failing)) throw new TypeError('disk full');
      records.push(...appended);
    },
    clock: { now: () => 7, monotonic: () => 7 },
    newId: () => 'minted',
  });
  return { broker, records, asked };
}

const reply =
  (answer: string, more: object = {}) =>
  () => ({ answer, by: 'user-1', ...more });

describe('createApprovalBroker', () => {
  test('records the question before asking and the answer after [S1-40]', async () => {
    const order: unknown[] = [];
    const { broker, records } = setUp(() => {
      order.push(...records.map((record) => record.kind === 'approval' && record.phase));
      return { answer: 'approved', by: 'user-1', reason: 'fine' };
    });
    assert.deepEqual(await broker.decide(question, never), {
      approved: true,
      answer: 'approved',
      by: 'user-1',
      reason: 'fine',
      remembered: false,
    });
    assert.deepEqual(order, ['dispatched']);
    const shared = {
      kind: 'approval',
      call_id: 'call-1',
      session_id: 'session-1',
      at_ms: 7,
      approval_id: 'approval-1',
    };
    assert.deepEqual(records, [
      { ...shared, phase: 'dispatched' },
      { ...shared, phase: 'answered', answer: 'approved', answered_by: 'user-1', reason: 'fine' },
    ]);
  });

  test('turns everything but a clear yes into a recorded denial with its code [S1-40]', async () => {
    const rows: [string, Answer, Partial<ApprovalQuestion>?][] = [
      ['approval.denied', reply('denied')],
      ['approval.disallowed_answer', reply('yes')],
      ['approval.disallowed_answer', reply('Approved')],
      ['approval.disallowed_answer', reply('approved '), {}],
      ['approval.disallowed_answer', reply('approved_for_session'), { allowedAnswers: ['approved', 'denied'] }],
      ['approval.disallowed_answer', reply('approved', { by: '' })],
      ['approval.disallowed_answer', reply('approved', { by: 7 })],
      ['approval.disallowed_answer', reply('approved', { args: ['x'] })],
      ['approval.disallowed_answer', reply('approved', { reason: {} })],
      ['approval.disallowed_answer', () => undefined],
      ['approval.disallowed_answer', () => 'approved'],
      ['approval.self_answer', reply('approved', { by: 'extension-1' })],
      ['approval.unavailable', () => Promise.reject(new TypeError('gone'))],
      ['approval.timeout', () => new Promise(() => undefined), { timeoutMs: 1 }],
    ];
    for (const [code, answer, change] of rows) {
      const { broker, records } = setUp(answer);
      const decision = await broker.decide({ ...question, ...change }, never);
      assert.equal(!decision.approved && decision.code, code);
      const [, answered] = records;
      assert.ok(answered?.kind === 'approval');
      assert.deepEqual([answered.phase, answered.answer, answered.reason], ['answered', 'denied', code]);
    }
  });

  test('lets another person approve what an extension asks, and a user approve his own call [S1-40]', async () => {
    assert.equal((await setUp(reply('approved')).broker.decide(question, never)).approved, true);
    const source = { ...view.source, kind: 'user' as const, id: 'user-1' };
    const own = { ...question, call: { ...view, source } };
    assert.equal((await setUp(reply('approved')).broker.decide(own, never)).approved, true);
  });

  test('denies without asking or recording without an approver [S1-40]', async () => {
    const { broker, records } = setUp();
    const decision = await broker.decide(question, never);
    assert.equal(!decision.approved && decision.code, 'missing.approval_dispatcher');
    assert.deepEqual(records, []);
  });

  test('asks nothing when the call is cancelled before, and stops waiting when it is cancelled later [S1-40]', async () => {
    const before = setUp(reply('approved'));
    const early = await before.broker.decide(question, AbortSignal.abort());
    assert.equal(!early.approved && early.code, 'approval.cancelled');
    assert.equal(before.asked.length, 0);
    assert.equal(before.records.length, 2);

    const controller = new AbortController();
    const heard: boolean[] = [];
    const during = setUp((_, signal) => {
      const answered = new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          heard.push(true);
          resolve({ answer: 'approved', by: 'user-1' });
        });
      });
      controller.abort();
      return answered;
    });
    const late = await during.broker.decide(question, controller.signal);
    assert.equal(!late.approved && late.code, 'approval.cancelled');
    assert.deepEqual(heard, [true]);
  });

  test('never contacts the dispatcher when the question cannot be recorded [S1-40]', async () => {
    const { broker, asked } = setUp(reply('approved'), (record) => record.kind === 'approval');
    await assert.rejects(
      broker.decide(question, never),
      (thrown) => isToolError(thrown) && thrown.details['kind'] === 'journal_failure' && thrown.code === 'E_INTERNAL',
    );
    assert.equal(asked.length, 0);
  });

  test('blocks the call and marks it for recovery when the answer cannot be recorded [S1-40]', async () => {
    const failsOnAnswer = (record: JournalRecord) => record.kind === 'approval' && record.phase === 'answered';
    const repair = (thrown: unknown) => isToolError(thrown) && thrown.details['kind'] === 'recovery_repair_needed';
    const { broker, records } = setUp(reply('approved_for_session'), failsOnAnswer);
    await assert.rejects(broker.decide(question, never), repair);
    assert.deepEqual(records[1], {
      kind: 'recovery',
      at_ms: 7,
      call_id: 'call-1',
      session_id: 'session-1',
      reason: 'approval_answer_append_failed',
      classification: 'reconcile',
    });
    await assert.rejects(broker.decide(question, never), repair, 'no grant came of it');
    const dead = setUp(reply('approved'), (record) => failsOnAnswer(record) || record.kind === 'recovery');
    await assert.rejects(dead.broker.decide(question, never), repair);
  });

  test('remembers a yes for the session, for that session, tool and weight only [S1-40]', async () => {
    const { broker, asked, records } = setUp(reply('approved_for_session'));
    const decideAs = (change: Partial<CallView>, more: Partial<ApprovalQuestion> = {}) =>
      broker.decide({ ...question, call: { ...view, ...change }, ...more }, never);
    await decideAs({});
    const again = await decideAs({ callId: 'call-2', args: { path: 'b' } });
    assert.equal(again.approved && again.remembered, true);
    assert.deepEqual([asked.length, records.length], [1, 2]);
    await decideAs({ sessionId: 'session-2' });
    await decideAs({ tool: 'fs_delete' });
    await decideAs({ profile: { ...view.profile, risk: 'critical' } });
    await decideAs({}, { allowedAnswers: ['approved', 'denied'] });
    assert.equal(asked.length, 5);
    broker.revokeSession('session-1');
    await decideAs({});
    assert.equal(asked.length, 6);
  });

  test('a plain yes is for one call [S1-40]', async () => {
    const { broker, asked } = setUp(reply('approved'));
    await broker.decide(question, never);
    await broker.decide(question, never);
    assert.equal(asked.length, 2);
  });

  test('an answer that arrives after the session was revoked grants nothing [S1-40]', async () => {
    const { broker, asked } = setUp(() => {
      broker.revokeSession('session-1');
      return { answer: 'approved_for_session', by: 'user-1' };
    });
    await broker.decide(question, never);
    await broker.decide(question, never);
    assert.equal(asked.length, 2);
  });

  test('hands edited arguments back for judgement and stores no grant for them [S1-40]', async () => {
    const edited: JsonObject = { path: 'b' };
    const { broker, asked } = setUp(reply('approved_for_session', { args: edited }));
    const decision = await broker.decide(question, never);
    assert.ok(decision.approved);
    assert.deepEqual(decision.args, { path: 'b' });
    assert.notEqual(decision.args, edited);
    await broker.decide(question, never);
    assert.equal(asked.length, 2);
  });

  test('an approver cannot edit the waiting call in place [S1-40]', async () => {
    const { broker } = setUp((request) => {
      (request.call.args as Record<string, string>)['path'] = '/etc';
      return { answer: 'approved', by: 'user-1' };
    });
    await broker.decide(question, never);
    assert.deepEqual(view.args, { path: 'a' });
  });

  test('supplies an id and a time limit, and refuses a malformed question [S1-40]', async () => {
    const { broker, asked } = setUp(reply('approved'));
    const { approvalId: _id, timeoutMs: _limit, ...bare } = question;
    await broker.decide(bare, never);
    assert.deepEqual([asked[0]?.approvalId, asked[0]?.timeoutMs], ['minted', 120_000]);
    const malformed: ApprovalQuestion[] = [
      { ...question, call: { ...view, tool: '' } },
      { ...question, call: { ...view, argsSummary: '' } },
      { ...question, call: { ...view, policyRefs: [] } },
      { ...question, allowedAnswers: [] },
      { ...question, allowedAnswers: ['maybe' as 'denied'] },
      { ...question, timeoutMs: 0 },
      { ...question, timeoutMs: Number.NaN },
    ];
    for (const one of malformed) {
      await assert.rejects(
        broker.decide(one, never),
        (thrown) => isToolError(thrown) && thrown.details['kind'] === 'invalid_state_transition',
      );
    }
    assert.equal(asked.length, 1);
  });
});
