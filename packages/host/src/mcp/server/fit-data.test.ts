import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fitData } from './fit-data.ts';

test('data that fits stays as it is', () => {
  const data = { files: ['a'], truncated: false };
  assert.deepEqual(fitData(data, 1000), { data, isCut: false });
});

test('long lists and texts lose their ends, and the data says so', () => {
  const matches = Array.from({ length: 5000 }, (_, line) => ({ file: 'a.ts', line, snippet: 'x'.repeat(500) }));
  const { data, isCut } = fitData({ matches, truncated: false }, 100_000);
  assert.ok(isCut && Array.isArray(data?.['matches']) && data['matches'].length > 10);
  assert.deepEqual([data['matches'][0], data['truncated']], [matches[0], true]);
});

test('whatever is cut is JSON of the same keys within the limit', () => {
  const value = fc.oneof(
    fc.string({ maxLength: 4000 }),
    fc.array(fc.string({ maxLength: 200 }), { maxLength: 50 }),
    fc.integer(),
  );
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ maxLength: 5 }), value, { maxKeys: 5 }),
      fc.integer({ min: 8000, max: 20_000 }),
      (data, limit) => {
        const fitted = fitData(data, limit);
        assert.ok(fitted.data !== undefined && Buffer.byteLength(JSON.stringify(fitted.data)) <= limit);
        assert.deepEqual(Object.keys(fitted.data), Object.keys(data));
      },
    ),
  );
});
