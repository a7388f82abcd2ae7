import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PartialLine, viewLine } from './line-view.ts';

test('counts columns in characters and drops the carriage return [S0-33]', () => {
  const line = Buffer.from('é\u{1f600} foo\r');
  const byteColumn = Buffer.byteLength('é\u{1f600} ') + 1;
  assert.deepEqual(viewLine(line, { byteColumn, maxLength: 100 }), { text: 'é\u{1f600} foo', column: 4, cut: false });
});

test('cuts a long line, with the match in what is left [S0-33]', () => {
  const line = Buffer.from(`${'x'.repeat(1000)}needle${'y'.repeat(1000)}`);
  const near = viewLine(line, { byteColumn: 1, maxLength: 10 });
  assert.deepEqual(near, { text: 'x'.repeat(10), column: 1, cut: true });
  const far = viewLine(line, { byteColumn: 1001, maxLength: 40 });
  assert.deepEqual(far, { text: `${'x'.repeat(10)}needle${'y'.repeat(24)}`, column: 1001, cut: true });
});

test('never cuts through a character [S0-33]', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), fc.integer({ min: 1, max: 20 }), (text, at, maxLength) => {
      const characters = [...text.replace(/[\r\n]/g, '')];
      const index = characters.length === 0 ? 0 : at % characters.length;
      const byteColumn = Buffer.byteLength(characters.slice(0, index).join('')) + 1;
      const view = viewLine(Buffer.from(characters.join('')), { byteColumn, maxLength });
      assert.equal(view.column, index + 1);
      assert.ok([...view.text].length <= maxLength);
      assert.ok(characters.join('').includes(view.text));
      assert.equal(view.cut, view.text !== characters.join(''));
      if (characters.length > 0) assert.ok(view.text.includes(characters[index] ?? ''), 'the match is in sight');
    }),
  );
});

test('sees the same line whole and in pieces, however long it is [S0-33]', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 200_000 }), { minLength: 1, maxLength: 5 }),
      fc.nat({ max: 600_000 }),
      fc.integer({ min: 1, max: 300 }),
      (lengths, at, maxLength) => {
        const pieces = lengths.map((length, index) => Buffer.alloc(length, 'abcé\u{1f600}'.slice(index)));
        const line = Buffer.concat(pieces);
        const place = { byteColumn: Math.min(at, line.length) + 1, maxLength };
        const partial = new PartialLine(place);
        for (const piece of pieces) partial.add(piece);
        assert.deepEqual(partial.view(), viewLine(line, place));
      },
    ),
    { numRuns: 60 },
  );
});
