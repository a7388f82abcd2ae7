import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeText, TEXT_ENCODINGS } from './encoding.ts';
import {
  changeBetween,
  changedText,
  encodeChange,
  joinChanges,
  smallestChange,
  type TextChange,
} from './text-change.ts';

/** Few letters, so that changes meet what is like them beside them; some have several bytes in UTF-8. */
const letters = fc.string({ unit: fc.constantFrom('a', 'b', '\n', 'é', '😀'), maxLength: 40 });

/** `at` and `length` are shares of what there is. */
const parts = fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), length: fc.nat(6), text: letters });

function partOf(text: string, { at, length, text: now }: { at: number; length: number; text: string }) {
  const whole = [...text];
  const first = Math.floor(at * whole.length);
  const start = whole.slice(0, first).join('').length;
  return { start, end: start + whole.slice(first, first + length).join('').length, text: now };
}

test('a change makes the text that replacing its part makes, and a joined one that of both', () => {
  fc.assert(
    fc.property(letters, parts, parts, (before, one, other) => {
      const first: TextChange = { before, ...partOf(before, one) };
      const between = changedText(first);
      assert.equal(between, before.slice(0, first.start) + first.text + before.slice(first.end));
      const next = partOf(between, other);
      const both = joinChanges(first, next);
      assert.equal(both.before, before);
      assert.equal(changedText(both), changedText({ before: between, ...next }));
    }),
  );
});

test('the smallest change is the one between the texts, wherever it was made', () => {
  assert.deepEqual(smallestChange({ before: 'xaaaay', start: 1, end: 1, text: 'a' }), {
    before: 'xaaaay',
    start: 5,
    end: 5,
    text: 'a',
  });
  fc.assert(
    fc.property(letters, parts, (before, part) => {
      const change = { before, ...partOf(before, part) };
      assert.deepEqual(smallestChange(change), changeBetween(before, changedText(change)));
    }),
  );
});

test('the change between long texts is found wherever it is', () => {
  const before = 'one line of many\n'.repeat(10_000);
  for (const at of [0, 1, 255, 256, 4096, 65_536, 65_537, 100_000, before.length - 1]) {
    const after = `${before.slice(0, at)}!${before.slice(at + 1)}`;
    assert.deepEqual(changeBetween(before, after), { before, start: at, end: at + 1, text: '!' }, `${at}`);
  }
});

test('bytes of a changed text are those of the whole new text', () => {
  fc.assert(
    fc.property(letters, parts, fc.constantFrom(...TEXT_ENCODINGS), (before, part, encoding) => {
      const change = { before, ...partOf(before, part) };
      const bytes = encodeText(before, encoding);
      if (bytes === undefined) return;
      assert.deepEqual(encodeChange(bytes, change, encoding), encodeText(changedText(change), encoding));
    }),
  );
});
