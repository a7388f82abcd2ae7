import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { plainLines } from './plain-lines.ts';

test('colours, hyperlinks and character sets disappear, text stays', () => {
  const link = '\u001b]8;;https://example.org/x\u0007a.ts\u001b]8;;\u001b\\';
  assert.deepEqual(plainLines(`\u001b[1;31mred\u001b[0m \u001b(B${link}\r\n\u009b32mgreen  \nlast\u0007`), [
    'red a.ts',
    'green',
    'last',
  ]);
});

test('a progress bar that overwrites itself is several lines', () => {
  assert.deepEqual(plainLines('10%\r50%\rdone\n'), ['10%', '50%', 'done', '']);
});

test('an unfinished sequence hides no other line', () => {
  assert.deepEqual(plainLines('\u001b]0;title\nsrc/a.ts\n\u001b[12'), ['', 'src/a.ts', '[12']);
});

test('whatever is printed, no control character is left (deep)', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
      for (const line of plainLines(`\u001b[${text}\u001b]${text}`)) {
        assert.doesNotMatch(line, /[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/);
      }
    }),
  );
});
