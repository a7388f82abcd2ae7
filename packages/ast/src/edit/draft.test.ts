import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PieceTable } from './draft.ts';

const edit = fc.record({ at: fc.nat(60), length: fc.nat(8), text: fc.string({ maxLength: 6 }) });

test('any rounds of edits amount to the edits it tells', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 50 }), fc.array(edit, { maxLength: 8 }), (original, rounds) => {
      let table = PieceTable.of(Buffer.from(original));
      let expected = Buffer.from(original);
      for (const { at, length, text } of rounds) {
        const start = Math.min(at, expected.length);
        const end = Math.min(start + length, expected.length);
        table = table.change([{ start, end, bytes: Buffer.from(text) }]);
        expected = Buffer.concat([expected.subarray(0, start), Buffer.from(text), expected.subarray(end)]);
      }
      assert.deepEqual(Buffer.from(table.bytes()), expected);
      const replayed = PieceTable.of(Buffer.from(original)).change(table.edits());
      assert.deepEqual(Buffer.from(replayed.bytes()), expected);
    }),
  );
});

test('a range that was not touched is found in both directions, one that changed is not', () => {
  const table = PieceTable.of(Buffer.from('one two three')).change([{ start: 4, end: 7, bytes: Buffer.from('2') }]);
  assert.deepEqual(table.place(8, 13), { start: 6, end: 11 });
  assert.deepEqual(table.origin(6, 11), { start: 8, end: 13 });
  assert.equal(table.place(4, 7), undefined);
  assert.equal(table.origin(4, 5), undefined);
  assert.equal(table.place(0, 13), undefined);
});
