import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { editBetween } from './edit-between.ts';
import { decodeSource, type SourceText } from './source-text.ts';

const piece = fc.string({
  unit: fc.constantFrom('a', 'b', '\n', 'é', '👋', '👍', 'long '.repeat(1_000)),
  maxLength: 12,
});

function sourceOf(text: string): SourceText {
  return decodeSource(Buffer.from(text), 'a.ts');
}

test('the edit between two texts turns one into the other and cuts no character [S0-52]', () => {
  fc.assert(
    fc.property(piece, piece, piece, piece, (head, before, after, tail) => {
      const [old, changed] = [head + before + tail, head + after + tail];
      const edit = editBetween(sourceOf(old), sourceOf(changed));
      if (edit === undefined) return assert.equal(old, changed);
      const { startIndex, oldEndIndex, newEndIndex } = edit;
      assert.equal(old.slice(0, startIndex) + changed.slice(startIndex, newEndIndex) + old.slice(oldEndIndex), changed);
      for (const part of [old.slice(0, startIndex), old.slice(oldEndIndex), changed.slice(startIndex, newEndIndex)]) {
        assert.equal(part.isWellFormed(), true);
      }
    }),
  );
});

test('the edit is no longer than what differs', () => {
  const edit = editBetween(sourceOf('one\ntwo\nthree'), sourceOf('one\ntwelve\nthree'));
  assert.deepEqual(
    { ...edit },
    {
      startIndex: 6,
      oldEndIndex: 7,
      newEndIndex: 10,
      startPosition: { row: 1, column: 2 },
      oldEndPosition: { row: 1, column: 3 },
      newEndPosition: { row: 1, column: 6 },
    },
  );
});
