import { test } from 'node:test';
import { assertStrict, SAMPLES } from '../../../test/sample-messages.ts';
import { cancelRequestSchema } from './cancel-request.ts';

test('CancelRequest has exactly its four fields', () => assertStrict(cancelRequestSchema, SAMPLES.CancelRequest));
