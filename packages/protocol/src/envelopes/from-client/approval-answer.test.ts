import { test } from 'node:test';
import { assertAccepts, assertRefuses, assertStrict, SAMPLES } from '../../../test/sample-messages.ts';
import { approvalAnswerSchema } from './approval-answer.ts';

test('ApprovalAnswer approves once, approves for the session, or denies', () => {
  assertStrict(approvalAnswerSchema, SAMPLES.ApprovalAnswer);
  assertAccepts(approvalAnswerSchema, SAMPLES.ApprovalAnswer, 'answer', ['approved', 'approved_for_session', 'denied']);
  assertRefuses(approvalAnswerSchema, SAMPLES.ApprovalAnswer, 'answer', ['yes', true, null]);
});

test('ApprovalAnswer may give a reason and other arguments', () => {
  assertAccepts(approvalAnswerSchema, SAMPLES.ApprovalAnswer, 'reason', ['', 'x'.repeat(500)]);
  assertRefuses(approvalAnswerSchema, SAMPLES.ApprovalAnswer, 'reason', ['x'.repeat(501), 1]);
  assertAccepts(approvalAnswerSchema, SAMPLES.ApprovalAnswer, 'args', [{}, { path: 'a.txt' }]);
  assertRefuses(approvalAnswerSchema, SAMPLES.ApprovalAnswer, 'args', [[], 'a.txt', null]);
});
