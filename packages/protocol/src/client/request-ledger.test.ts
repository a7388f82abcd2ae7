import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { refusal, responseTo } from '../../test/model-host.ts';
import { SAMPLES } from '../../test/sample-messages.ts';
import type { CancelRequest } from '../envelopes/from-client/cancel-request.ts';
import type { ToolRequest } from '../envelopes/from-client/tool-request.ts';
import { RequestLedger } from './request-ledger.ts';

const request: ToolRequest = SAMPLES.ToolRequest;
const keyed: ToolRequest = { ...request, idempotency_key: 'k' };
const cancel: CancelRequest = SAMPLES.CancelRequest;
const id = request.request_id;
const says = (reason: string) => refusal(id, 'E_INTERNAL', reason);

const delivered = (answer: ReturnType<typeof says> | ReturnType<typeof responseTo>) => ({
  action: 'deliver',
  answer,
  sessionId: request.session_id,
});

function sent(one: ToolRequest = request): RequestLedger {
  const ledger = new RequestLedger();
  ledger.add(one);
  ledger.markSent(id);
  return ledger;
}

describe('the ledger of open requests', () => {
  test('delivers one answer and ignores every further one', () => {
    const ledger = sent();
    const answer = responseTo(request, {});
    assert.deepEqual(ledger.judge(answer), delivered(answer));
    for (const late of [answer, says('never_received'), says('answer_gone')]) {
      assert.deepEqual(ledger.judge(late), { action: 'ignore' });
    }
    assert.equal(ledger.isEmpty, true);
  });

  test('repeats what never came, also without a key', () => {
    assert.deepEqual(sent().judge(says('never_received')), { action: 'repeat', request });
  });

  test('does not repeat for ever what never comes: it may be what ends the connection', () => {
    const ledger = sent();
    for (let times = 0; times < 3; times++) {
      assert.deepEqual(ledger.judge(says('never_received')), { action: 'repeat', request });
    }
    assert.deepEqual(ledger.judge(says('never_received')), delivered(says('never_received')));
    assert.equal(ledger.isEmpty, true);
  });

  test('repeats what was answered and forgotten only with a key', () => {
    assert.deepEqual(sent(keyed).judge(says('answer_gone')), { action: 'repeat', request: keyed });
    const verdict = sent().judge(says('answer_gone'));
    assert.ok(verdict.action === 'deliver' && verdict.answer.type === 'ErrorMessage');
    assert.equal(verdict.answer.code, 'E_INTERNAL');
    assert.equal(verdict.answer.details?.['reason'], 'outcome_unknown');
  });

  test('asks again when a repetition meets its own first copy, but not for ever', () => {
    const ledger = sent();
    const reused = says('request_id_reused');
    ledger.judge(says('never_received'));
    for (let ask = 1; ask <= 3; ask += 1) assert.deepEqual(ledger.judge(reused), { action: 'ask', requestId: id });
    const verdict = ledger.judge(reused);
    assert.ok(verdict.action === 'deliver' && verdict.answer.type === 'ErrorMessage');
    assert.equal(verdict.answer.details?.['reason'], 'outcome_unknown');
  });

  test('passes the refusal of a reused id on when nothing was repeated', () => {
    const reused = says('request_id_reused');
    assert.deepEqual(sent().judge(reused), delivered(reused));
  });

  test('a cancelled request that never came stays so; one that never went out is answered at once', () => {
    const ledger = sent();
    assert.equal(ledger.cancel(cancel), 'send');
    assert.deepEqual(ledger.cancels(), [cancel]);
    const verdict = ledger.judge(says('never_received'));
    assert.ok(verdict.action === 'deliver' && verdict.answer.type === 'ErrorMessage');
    assert.equal(verdict.answer.details?.['reason'], 'cancelled');
    const fresh = new RequestLedger();
    fresh.add(request);
    const answer = fresh.cancel(cancel);
    assert.ok(typeof answer === 'object' && answer.details?.['reason'] === 'cancelled');
    assert.deepEqual([fresh.unsent(), fresh.cancel(cancel)], [[], undefined]);
  });

  test('gives up what may have run and keeps what never went out', () => {
    const ledger = sent();
    ledger.add({ ...request, request_id: 'other' });
    const lost = ledger.abandonSent('session_expired');
    assert.deepEqual(
      lost.map(({ request_id, details }) => [request_id, details?.['reason'], details?.['because']]),
      [[id, 'outcome_unknown', 'session_expired']],
    );
    assert.deepEqual(
      ledger.unsent().map(({ request_id }) => request_id),
      ['other'],
    );
  });

  test('gives up the requests of some sessions and keeps the others', () => {
    const ledger = sent();
    ledger.add({ ...request, request_id: 'other', session_id: 'session-2' });
    ledger.markSent('other');
    const lost = ledger.abandonSent('connection_lost', (sessionId) => sessionId === 'session-2');
    assert.deepEqual(
      lost.map(({ request_id, details }) => [request_id, details?.['reason'], details?.['because']]),
      [['other', 'outcome_unknown', 'connection_lost']],
    );
    assert.deepEqual(ledger.pendingIds(), [id]);
  });
});
