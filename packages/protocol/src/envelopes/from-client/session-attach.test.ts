import { test } from 'node:test';
import { assertAccepts, assertRefuses, assertStrict, SAMPLES } from '../../../test/sample-messages.ts';
import { sessionAttachSchema } from './session-attach.ts';

test('SessionAttach names a session, and may say where to resume', () => {
  assertStrict(sessionAttachSchema, SAMPLES.SessionAttach);
  assertAccepts(sessionAttachSchema, SAMPLES.SessionAttach, 'after', [0, 12]);
  assertRefuses(sessionAttachSchema, SAMPLES.SessionAttach, 'after', [-1, 1.5, '1', null]);
  assertAccepts(sessionAttachSchema, SAMPLES.SessionAttach, 'pending', [[], ['request-1']]);
  assertRefuses(sessionAttachSchema, SAMPLES.SessionAttach, 'pending', ['request-1', [''], Array(1025).fill('r')]);
  assertAccepts(sessionAttachSchema, SAMPLES.SessionAttach, 'events', ['progress', 'all']);
  assertRefuses(sessionAttachSchema, SAMPLES.SessionAttach, 'events', ['none', true]);
});
