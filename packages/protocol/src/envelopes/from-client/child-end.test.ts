import { test } from 'node:test';
import { assertAccepts, assertRefuses, assertStrict, SAMPLES } from '../../../test/sample-messages.ts';
import { childEndSchema } from './child-end.ts';

test('ChildEnd names a child, and what becomes of its running calls [S3-49]', () => {
  assertStrict(childEndSchema, SAMPLES.ChildEnd);
  assertAccepts(childEndSchema, SAMPLES.ChildEnd, 'mode', ['wait', 'cancel']);
  assertRefuses(childEndSchema, SAMPLES.ChildEnd, 'mode', ['', 'now', null]);
});
