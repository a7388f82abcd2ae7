import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MAX_ID_BYTES } from '../primitives/safe-text.ts';
import { idSchema } from './fields.ts';

test('an id is accepted exactly when it is 1 to 512 bytes of printable, well-formed text', () => {
  const text = fc.string({
    unit: fc.oneof({ weight: 20, arbitrary: fc.string({ unit: 'binary' }) }, fc.constantFrom('\ud800', 'é', 'a')),
    maxLength: 300,
  });
  fc.assert(
    fc.property(text, (value) => {
      const bytes = new TextEncoder().encode(value).length;
      const expected = bytes > 0 && bytes <= MAX_ID_BYTES && value.isWellFormed() && !/\p{Cc}/u.test(value);
      assert.equal(idSchema.safeParse(value).success, expected);
    }),
    { numRuns: 500 },
  );
});

test('an id that is too long is refused with one reason', () => {
  for (const value of ['x'.repeat(513), 'é'.repeat(257)]) {
    assert.deepEqual(
      idSchema.safeParse(value).error?.issues.map((issue) => issue.message),
      ['must be at most 512 bytes long'],
    );
  }
  assert.equal(idSchema.safeParse('é'.repeat(256)).success, true);
});
