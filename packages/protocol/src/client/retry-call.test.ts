import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rejection } from '../../test/rejection.ts';
import { SAMPLES } from '../../test/sample-messages.ts';
import type { ToolResponse } from '../envelopes/from-host/tool-response.ts';
import { type JsonObject, ToolError } from '../primitives/errors.ts';
import { retryCall } from './retry-call.ts';

const fails = (details: JsonObject) => () => Promise.reject(new ToolError('E_INTERNAL', 'm', { details }));
const answers = (response: ToolResponse) => () => Promise.resolve(response);
const ok: ToolResponse = SAMPLES.ToolResponse;
const keyInUse = (reason: string): ToolResponse => ({
  ...ok,
  ok: false,
  errors: [{ code: 'E_POLICY', message: 'm', details: { gate: 'idempotency', reason } }],
});

function retrying(attempts: number, steps: (() => Promise<ToolResponse>)[], isOver = () => false) {
  let sent = 0;
  const outcome = retryCall(
    attempts,
    () => {
      sent += 1;
      return steps.shift()?.() ?? Promise.reject(new TypeError('one attempt too many'));
    },
    { signal: undefined, isOver },
  );
  return { outcome, sent: () => sent };
}

describe('repeating a call', () => {
  const onTheWay: readonly JsonObject[] = [
    { reason: 'send_failed' },
    { reason: 'connection_closed' },
    { reason: 'no_answer' },
    { status: 429, reason: 'limit_reached', retry_after_ms: 1 },
    { status: 503, retry_after_ms: 1 },
  ];
  for (const details of onTheWay) {
    test(`goes on after ${JSON.stringify(details)}`, async () => {
      const { outcome, sent } = retrying(3, [fails(details), fails(details), answers(ok)]);
      assert.equal(await outcome, ok);
      assert.equal(sent(), 3);
    });
  }

  for (const details of [{ reason: 'outcome_unknown' }, { reason: 'cancelled' }, { status: 503 }, {}] as const) {
    test(`stops at ${JSON.stringify(details)}`, async () => {
      const { outcome, sent } = retrying(3, [fails(details), answers(ok)]);
      assert.deepEqual((await rejection(outcome)).details, details);
      assert.equal(sent(), 1);
    });
  }

  test('gives the last failure when the attempts are used up or the connection is gone for good', async () => {
    const lost = fails({ reason: 'no_answer' });
    assert.equal((await rejection(retrying(2, [lost, lost, answers(ok)]).outcome)).details['reason'], 'no_answer');
    const over = retrying(5, [lost, answers(ok)], () => true);
    await rejection(over.outcome);
    assert.equal(over.sent(), 1);
  });

  for (const reason of ['outcome_unknown', 'key_taken']) {
    test(`waits for the first copy when the key is in use: ${reason}`, async () => {
      const steps = [fails({ reason: 'no_answer' }), answers(keyInUse(reason)), answers(ok)];
      assert.equal(await retrying(5, steps).outcome, ok);
    });
  }

  test('passes on a key in use that another caller used, and one that stays in use', async () => {
    const refused = keyInUse('outcome_unknown');
    assert.equal(await retrying(5, [answers(refused)]).outcome, refused);
    assert.equal(await retrying(2, [fails({ reason: 'no_answer' }), answers(refused)]).outcome, refused);
  });

  test('ends when it is aborted between two attempts', async () => {
    const controller = new AbortController();
    const outcome = retryCall(5, fails({ reason: 'limit_reached', retry_after_ms: 1e6 }), {
      signal: controller.signal,
      isOver: () => false,
    });
    setImmediate(() => controller.abort());
    assert.equal((await rejection(outcome)).details['reason'], 'cancelled');
  });
});
