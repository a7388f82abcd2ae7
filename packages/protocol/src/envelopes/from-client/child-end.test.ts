import { test } from 'node:test';
import { assertAccepts, assertRefuses, assertStrict, SAMPLES } from '../../../test/sample-messages.ts';
import { childEndSchema } from './child-end.ts';
import { childEndedSchema } from '../from-host/child-ended.ts';

test('S3-49 ChildEnd names a child, and ChildEnded what it used', () => {
  assertStrict(childEndSchema, SAMPLES.ChildEnd);
  assertAccepts(childEndSchema, SAMPLES.ChildEnd, 'mode', ['wait', 'cancel']);
  assertRefuses(childEndSchema, SAMPLES.ChildEnd, 'mode', ['', 'now', null]);
  assertStrict(childEndedSchema, SAMPLES.ChildEnded);
  assertRefuses(childEndedSchema, SAMPLES.ChildEnded, 'usage', [{}, null, { calls: -1, errors: 0, bytes: 0 }]);
});
