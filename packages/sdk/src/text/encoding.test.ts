import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeText, detectEncoding, encodeText, TEXT_ENCODINGS } from './encoding.ts';

test('text comes back from its bytes in every encoding that can hold it [S0-30]', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.constantFrom(...TEXT_ENCODINGS), (text, encoding) => {
      const bytes = encodeText(text, encoding);
      if (bytes === undefined) assert.ok(encoding === 'latin1' && /[^\0-\xff]/.test(text));
      else assert.equal(decodeText(bytes, encoding), text);
    }),
  );
});

test('bytes come back from their text or have none [S0-30]', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.constantFrom(...TEXT_ENCODINGS), (bytes, encoding) => {
      const text = decodeText(bytes, encoding);
      if (text === undefined) assert.notEqual(encoding, 'latin1');
      else assert.deepEqual(encodeText(text, encoding), Buffer.from(bytes));
    }),
  );
});

test('a prefix loses at most the character it cuts [S0-30]', () => {
  const text = 'aé漢\u{1f600}';
  for (const encoding of ['utf-8', 'utf-16le', 'utf-16be'] as const) {
    const bytes = encodeText(text, encoding) ?? Buffer.alloc(0);
    for (let end = 0; end <= bytes.length; end++) {
      const decoded = decodeText(bytes.subarray(0, end), encoding, { isPrefix: true });
      assert.ok(decoded !== undefined && text.startsWith(decoded));
      assert.ok(end - (encodeText(decoded, encoding)?.length ?? 0) < 4);
    }
  }
});

function bigEndian(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16();
}

test('text is told from its bytes, with and without a byte order mark [S0-30]', () => {
  const german = 'Grüße aus Köln, schöne Straße\r\n';
  const table: readonly (readonly [string, Uint8Array, string, boolean])[] = [
    ['nothing', Buffer.from(''), 'utf-8', false],
    ['ASCII', Buffer.from('plain\n'), 'utf-8', false],
    ['UTF-8', Buffer.from(german), 'utf-8', false],
    ['UTF-8 with mark', Buffer.from(`\ufeff${german}`), 'utf-8', true],
    ['colours of a terminal', Buffer.from('\u001b[31mred\u001b[0m\n'), 'utf-8', false],
    ['UTF-16LE with mark', Buffer.from(`\ufeff${german}`, 'utf16le'), 'utf-16le', true],
    ['UTF-16BE with mark', bigEndian(`\ufeff漢字`), 'utf-16be', true],
    ['UTF-16LE without mark', Buffer.from(german, 'utf16le'), 'utf-16le', false],
    ['UTF-16BE without mark', bigEndian(german), 'utf-16be', false],
    ['Latin-1', Buffer.from(german, 'latin1'), 'latin1', false],
  ];
  for (const [name, bytes, encoding, hasMark] of table) {
    assert.deepEqual(detectEncoding(bytes), { encoding, hasMark }, name);
  }
});

test('what is no text is binary [S0-30]', () => {
  const table: Record<string, Uint8Array> = {
    'a zero among letters': Buffer.from('nul \0 inside, and more text\n'),
    zeros: Buffer.alloc(4096),
    'four bytes of UTF-16 without mark': Buffer.from('ab', 'utf16le'),
    'UTF-32': Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]),
    'half a pair of surrogates': Buffer.from('\ufeff\ud800x', 'utf16le'),
    'an odd number of bytes behind a mark': Buffer.from([0xff, 0xfe, 0x61]),
    'control characters': Buffer.from([1, 2, 3, 4, 5, 6, 0x80, 0xff]),
    'mostly high bytes': Buffer.from('Привет', 'utf8')
      .map((byte) => byte | 0x80)
      .subarray(1),
    'a PNG': Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
  };
  for (const [name, bytes] of Object.entries(table)) {
    assert.deepEqual(detectEncoding(bytes), { encoding: 'binary', hasMark: false }, name);
  }
});

test('a file cut anywhere is the same as the whole one [S0-30]', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }).filter((value) => !value.includes('\0'));
  fc.assert(
    fc.property(text, fc.nat({ max: 60 }), (value, cut) => {
      for (const [encoding, whole] of [
        ['utf-8', Buffer.from(value)],
        ['utf-16le', Buffer.from(`\ufeff${value}`, 'utf16le')],
        ['utf-16be', bigEndian(`\ufeff${value}`)],
      ] as const) {
        const bytes = whole.subarray(0, Math.max(4, cut));
        assert.equal(detectEncoding(bytes, { isPrefix: bytes.length < whole.length }).encoding, encoding);
      }
    }),
  );
});
