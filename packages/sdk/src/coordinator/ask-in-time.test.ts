import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { coordinatorVerdictSchema } from '@tool-runtime/protocol';
import { askInTime } from './ask-in-time.ts';

const allow = { verdict: 'allow', reason: 'fine' } as const;

function put(ask: (signal: AbortSignal) => unknown, options: { timeoutMs?: number; signal?: AbortSignal } = {}) {
  return askInTime({
    ask,
    schema: coordinatorVerdictSchema,
    timeoutMs: options.timeoutMs ?? 10_000,
    signal: options.signal ?? new AbortController().signal,
  });
}

test('hears an answer, at once or later [S0-75]', async () => {
  assert.deepEqual(await put(() => allow), { type: 'verdict', verdict: allow });
  assert.deepEqual(await put(() => pause(1, allow)), { type: 'verdict', verdict: allow });
});

test('an exception, a rejection and a strange answer are values, never thrown [S0-75]', async () => {
  const boom = new TypeError('boom');
  const throws = (): never => {
    throw boom;
  };
  assert.deepEqual(await put(throws), { type: 'threw', cause: boom });
  assert.deepEqual(await put(() => Promise.reject(boom)), { type: 'threw', cause: boom });
  const strange = [
    undefined,
    null,
    'allow',
    {},
    [],
    { verdict: 'yes', reason: 'x' },
    { verdict: 'allow' },
    { verdict: 'allow', reason: '' },
    { verdict: 'allow', reason: 'two words' },
    { verdict: 'allow', reason: 'x', extra: 1 },
    { verdict: 'allow', reason: 'x', message: 7 },
    { verdict: 'allow', reason: 'x', message: 'y'.repeat(2001) },
  ];
  for (const answer of strange) assert.equal((await put(() => answer)).type, 'malformed', JSON.stringify(answer));
});

test('an answer that does not come in time is given up and its asker told [S0-75]', async () => {
  let told: unknown;
  const never = (signal: AbortSignal) =>
    new Promise(() => signal.addEventListener('abort', () => (told = signal.reason), { once: true }));
  assert.equal((await put(never, { timeoutMs: 5 })).type, 'timed_out');
  assert.match(String(told), /did not answer within 5 ms/);
});

test('a cancel is thrown as it is, before the question and during it [S0-75]', async () => {
  const reason = new TypeError('cancelled');
  await assert.rejects(
    put(() => assert.fail('asked'), { signal: AbortSignal.abort(reason) }),
    reason,
  );
  const stop = new AbortController();
  const asked = put(() => new Promise(() => {}), { signal: stop.signal });
  stop.abort(reason);
  await assert.rejects(asked, reason);
});
