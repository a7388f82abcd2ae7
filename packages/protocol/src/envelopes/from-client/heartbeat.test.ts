import { test } from 'node:test';
import { assertStrict, SAMPLES } from '../../../test/sample-messages.ts';
import { heartbeatSchema } from './heartbeat.ts';

test('S0-7 Heartbeat has exactly type, session_id and timestamp', () =>
  assertStrict(heartbeatSchema, SAMPLES.Heartbeat));
