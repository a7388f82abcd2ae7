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

test('what is left whole is within the limit, whatever its characters take as JSON', () => {
  const character = fc.oneof(
    fc.integer({ min: 0, max: 0x1f }),
    fc.constantFrom(0x22, 0x5c, 0x61, 0x7f, 0xe9, 0x2028, 0xd800, 0xdc00),
  );
  const text = fc.array(character, { maxLength: 400 }).map((codes) => String.fromCharCode(...codes));
  fc.assert(
    fc.property(fc.dictionary(text, fc.oneof(text, fc.double(), fc.boolean(), fc.array(text))), (data) => {
      const bytes = Buffer.byteLength(JSON.stringify(data));
      assert.equal(fitData(data, bytes).isCut, false);
      assert.ok(bytes === 0 || fitData(data, bytes - 1).isCut);
    }),
  );
});
