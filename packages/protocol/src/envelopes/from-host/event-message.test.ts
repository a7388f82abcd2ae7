import { describe, test } from 'node:test';
import { assertAccepts, assertRefuses, assertStrict, SAMPLES } from '../../../test/sample-messages.ts';
import { eventMessageSchema } from './event-message.ts';

const sample = SAMPLES.EventMessage;

describe('EventMessage', () => {
  test('has exactly its four required fields [S0-5]', () => assertStrict(eventMessageSchema, sample));

  test('takes a percentage only between 0 and 100 [S0-5]', () => {
    const progress = (pct: unknown) => ({ pct, message: '' });
    assertRefuses(eventMessageSchema, sample, 'progress', [-0.1, 100.1, Number.NaN, '40', null].map(progress));
    assertAccepts(eventMessageSchema, sample, 'progress', [0, 33.3, 100].map(progress));
  });

  test('takes progress only as percentage and message [S0-5]', () => {
    assertRefuses(eventMessageSchema, sample, 'progress', [40, null, { pct: 4 }, { pct: 4, message: 'm', more: 1 }]);
  });

  test('an event may carry its session, its number and data', () => {
    assertRefuses(eventMessageSchema, sample, 'id', [1.5, -1, '7']);
    assertAccepts(eventMessageSchema, sample, 'id', [0, 7]);
    assertRefuses(eventMessageSchema, sample, 'data', [[], 'text', null]);
    assertAccepts(eventMessageSchema, sample, 'data', [{}, { phase: 'execute' }]);
    assertRefuses(eventMessageSchema, sample, 'session_id', ['', 4]);
    assertAccepts(eventMessageSchema, sample, 'session_id', ['session-1']);
  });
});
