import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { splitWindows } from './secret-scanner.ts';
import { narrowText, plainSource, type TextSource, textSources, widenMatches } from './text-source.ts';

const TEXT = 'const word = "grüße, 你好 \u{1f511}";\r\nnext();\n'.repeat(40);

function whole(source: TextSource | undefined): string | undefined {
  return source?.slice(0, source.length);
}

function utf16be(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16();
}

describe('the text of a file', () => {
  test('is read as UTF-8 and as UTF-16 in both orders, the mark left out [S0-67]', () => {
    const forms: readonly Buffer[] = [
      Buffer.from(TEXT),
      Buffer.from(`\ufeff${TEXT}`),
      Buffer.from(TEXT, 'utf16le'),
      Buffer.from(`\ufeff${TEXT}`, 'utf16le'),
      utf16be(TEXT),
      utf16be(`\ufeff${TEXT}`),
    ];
    for (const bytes of forms) assert.equal(whole(textSources(bytes)[0]), TEXT);
  });

  test('is read byte by byte when it is no known text [S0-67]', () => {
    for (const bytes of [Buffer.from([0x41, 0xff, 0x42]), Buffer.from([0x41, 0, 0, 0, 0x42, 0])]) {
      const [source, other] = textSources(bytes);
      assert.equal(source?.isBinary, true);
      assert.equal(whole(source), bytes.toString('latin1'));
      assert.equal(other, undefined);
    }
  });

  test('is read byte by byte as well when it says it is UTF-16 [S0-67]', () => {
    const lying = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('plain letters')]);
    assert.ok(whole(textSources(lying)[1])?.endsWith('plain letters'));
  });

  test('takes a view into a larger buffer for what it shows [S0-67]', () => {
    const large = new TextEncoder().encode('beforeINSIDEbehind');
    assert.equal(whole(textSources(large.subarray(6, 12))[0]), 'INSIDE');
  });

  test('of an empty file is empty [S0-67]', () => {
    assert.equal(whole(textSources(new Uint8Array())[0]), '');
  });
});

describe('windows over a text', () => {
  const sources = fc
    .tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 400 }), fc.nat(3))
    .map(([raw, form]): { text: string; source: TextSource } => {
      const text = raw.replaceAll('\0', 'x').toWellFormed();
      if (form === 0) return { text, source: plainSource(text) };
      const bytes = [Buffer.from(text), Buffer.from(`\ufeff${text}`, 'utf16le'), utf16be(`\ufeff${text}`)][form - 1];
      const clean = form === 1 && text.startsWith('\ufeff') ? text.slice(1) : text;
      return { text: clean, source: textSources(bytes ?? new Uint8Array())[0] ?? plainSource('') };
    });

  test('own every character once, cut none in two, and show what is around [S0-67]', () => {
    fc.assert(
      fc.property(
        sources,
        fc.integer({ min: 8, max: 64 }),
        fc.integer({ min: 4, max: 64 }),
        ({ text, source }, units, margin) => {
          const windows = [...splitWindows(source, { units, margin })];
          assert.equal(windows.map((window) => window.text.slice(window.from, window.to)).join(''), text);
          assert.deepEqual(
            windows.map((window) => window.isLast),
            windows.map((_, at) => at === windows.length - 1),
          );
          for (const window of windows) {
            assert.ok(text.includes(window.text));
            assert.ok(window.text.isWellFormed());
          }
        },
      ),
    );
  });
});

const WORD = 'searched-word';

function wide(text: string): string {
  return Buffer.from(text, 'utf16le').toString('latin1');
}

test('a word of two-byte characters is found in its place at any alignment, among anything [S0-67]', () => {
  const around = fc.array(fc.constantFrom('\0', '\0\0', '\0\0\0', 'ab', '\xff', '\n', wide('other text')), {
    maxLength: 20,
  });
  fc.assert(
    fc.property(around, around, fc.boolean(), (before, behind, isBig) => {
      const word = isBig ? `\0${wide(WORD).slice(0, -1)}` : wide(WORD);
      const text = `${before.join('')}\x01\0\0\0${word}\0\0\x02${behind.join('')}`;
      const narrow = narrowText(text) ?? '';
      const start = narrow.indexOf(WORD);
      assert.ok(start >= 0);
      const match = { kind: 'any', start, end: start + WORD.length, value: WORD };
      const [found] = widenMatches([match], text);
      assert.equal(text.slice(found?.start, found?.end).replaceAll('\0', ''), WORD);
      assert.equal(text.charAt(found?.start ?? 0), WORD.charAt(0));
    }),
  );
});

test('content without two-byte characters has no narrow form [S0-67]', () => {
  assert.equal(narrowText('a\0\0b\0c plain'), undefined);
});
