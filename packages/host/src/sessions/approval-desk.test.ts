/** The desk by itself: what holds for every caller. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError, SCOPES } from '@tool-runtime/protocol';
import type { ApprovalRequest } from '@tool-runtime/sdk';
import type { Principal } from '../auth/principal.ts';
import { type ApprovalDesk, createApprovalDesk } from './approval-desk.ts';

const APPROVER: Principal = { id: 'token:approver', name: 'approver', scopes: new Set(['approve']) };
const OTHERS: Principal = {
  id: 'token:others',
  name: 'others',
  scopes: new Set(SCOPES.filter((scope) => scope !== 'approve')),
};

function openDesk(): ApprovalDesk {
  return createApprovalDesk({ now: () => 1000 });
}

function question(approvalId: string): ApprovalRequest {
  return {
    approvalId,
    call: {
      callId: 'call-1',
      sessionId: 'sess-1',
      tool: 'file_write',
      args: { path: 'a.txt' },
      argsSummary: 'path: a.txt',
      actor: 'caller',
      paths: ['a.txt'],
    } as unknown as ApprovalRequest['call'],
    reason: 'asked for',
    allowedAnswers: ['approved', 'denied'],
    timeoutMs: 1000,
  };
}

/** The reason of a refusal, or what was answered. */
function outcome(act: () => unknown): unknown {
  try {
    return act();
  } catch (thrown) {
    return isToolError(thrown) ? thrown.details['reason'] : thrown;
  }
}

describe('the desk of approvals', () => {
  test('shows questions to principals who may approve, and to no others', async () => {
    const desk = openDesk();
    const asked = desk.ask(question('approval.1'), new AbortController().signal);
    assert.equal(
      outcome(() => desk.list(OTHERS)),
      'scope_missing',
    );
    assert.deepEqual(
      desk.list(APPROVER).map(({ approval_id }) => approval_id),
      ['approval.1'],
    );
    desk.answer({ approval_id: 'approval.1', answer: 'denied' }, APPROVER);
    await asked;
  });

  test('takes the answer of a principal who may approve, once', async () => {
    const desk = openDesk();
    const asked = desk.ask(question('approval.1'), new AbortController().signal);
    const answer = (given: 'approved' | 'denied', by: Principal) =>
      outcome(() => desk.answer({ approval_id: 'approval.1', answer: given }, by));
    assert.equal(answer('approved', OTHERS), 'scope_missing');
    assert.equal(desk.size, 1, 'the question still waits');
    assert.deepEqual(answer('denied', APPROVER), { approval_id: 'approval.1', answer: 'denied', by: 'approver' });
    assert.equal(answer('approved', APPROVER), 'already_answered');
    assert.deepEqual(await asked, { answer: 'denied', by: 'approver' });
    assert.equal(answer('approved', APPROVER), 'already_answered');
    assert.equal(desk.size, 0);
  });

  test('forgets a question whose call was cancelled, before or while it waits', async () => {
    const desk = openDesk();
    const controller = new AbortController();
    const asked = desk.ask(question('approval.1'), controller.signal);
    controller.abort(new RangeError('cancelled'));
    const late = outcome(() => desk.answer({ approval_id: 'approval.1', answer: 'approved' }, APPROVER));
    assert.equal(late, 'unknown_approval', 'at once, not only after the call has noticed');
    await assert.rejects(asked, RangeError);
    await assert.rejects(desk.ask(question('approval.2'), controller.signal), RangeError);
    assert.equal(desk.size, 0);
    for (const approval_id of ['approval.1', 'approval.2']) {
      assert.equal(
        outcome(() => desk.answer({ approval_id, answer: 'approved' }, APPROVER)),
        'unknown_approval',
      );
    }
  });
});
