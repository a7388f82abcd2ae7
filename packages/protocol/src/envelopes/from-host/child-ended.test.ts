import { test } from 'node:test';
import { assertRefuses, assertStrict, SAMPLES } from '../../../test/sample-messages.ts';
import { childEndedSchema } from './child-ended.ts';

test('ChildEnded reports what the child used [S3-49]', () => {
  assertStrict(childEndedSchema, SAMPLES.ChildEnded);
  assertRefuses(childEndedSchema, SAMPLES.ChildEnded, 'usage', [{}, null, { calls: -1, errors: 0, bytes: 0 }]);
});
