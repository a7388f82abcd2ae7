import { test } from 'node:test';
import { assertStrict, SAMPLES } from '../../../test/sample-messages.ts';
import { heartbeatSchema } from './heartbeat.ts';

test('Heartbeat has exactly type, session_id and timestamp [S0-7]', () =>
  assertStrict(heartbeatSchema, SAMPLES.Heartbeat));
