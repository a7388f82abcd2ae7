import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { decodeSource } from './source-text.ts';

const text = fc.string({
  unit: fc.constantFrom('a', '\n', '\r\n', 'é', '漢', '👋', '\u{1F468}\u200D', '\uFEFF', 'xyz '.repeat(90)),
  maxLength: 40,
});

/** Offsets between characters, in units, each with its byte offset. */
function boundaries(value: string): [offset: number, byte: number][] {
  const pairs: [number, number][] = [[0, 0]];
  let offset = 0;
  let byte = 0;
  for (const character of value) {
    offset += character.length;
    byte += Buffer.byteLength(character);
    pairs.push([offset, byte]);
  }
  return pairs;
}

describe('source text', () => {
  test('converts every character boundary between units and bytes, both ways [S0-53]', () => {
    fc.assert(
      fc.property(text, (value) => {
        const source = decodeSource(Buffer.from(value), 'a.ts');
        assert.equal(source.text, value);
        for (const [offset, byte] of boundaries(value)) {
          assert.equal(source.toByte(offset), byte);
          assert.equal(source.toOffset(byte), offset);
        }
      }),
    );
  });

  test('gives the start of the character for a byte inside it, also at a checkpoint', () => {
    for (const before of [0, 1, 254, 255, 256, 511, 512]) {
      const source = decodeSource(Buffer.from(`${'a'.repeat(before)}👋b`), 'a.ts');
      const answers = [0, 1, 2, 3, 4].map((inside) => source.toOffset(before + inside));
      assert.deepEqual(answers, [before, before, before, before, before + 2]);
    }
  });

  test('knows the line of every offset', () => {
    fc.assert(
      fc.property(text, (value) => {
        const source = decodeSource(Buffer.from(value), 'a.ts');
        for (let offset = 0; offset <= value.length; offset++) {
          const row = value.slice(0, offset).split('\n').length - 1;
          assert.equal(source.rowOf(offset), row);
          assert.equal(source.lineStart(row), value.slice(0, offset).lastIndexOf('\n') + 1);
        }
        assert.equal(source.lineCount, value.split('\n').length);
      }),
    );
  });

  test('keeps a byte order mark as one unit of three bytes', () => {
    const source = decodeSource(Buffer.from('\uFEFFx'), 'a.ts');
    assert.deepEqual([source.text.length, source.toByte(1), source.toOffset(3)], [2, 3, 1]);
  });

  test('reads bytes that are not UTF-8 one unit per byte', () => {
    const source = decodeSource(Buffer.from([0x61, 0xe9, 0x62, 0xff]), 'a.c');
    assert.deepEqual([source.encoding, source.text.length, source.toByte(3), source.toOffset(2)], ['latin1', 4, 3, 2]);
  });

  test('refuses what is too large or not text, and takes what just fits', () => {
    assert.throws(() => decodeSource(Buffer.alloc(5, 'a'), 'a.ts', 4), { details: { reason: 'too_large' } });
    assert.equal(decodeSource(Buffer.alloc(4, 'a'), 'a.ts', 4).text, 'aaaa');
    assert.throws(() => decodeSource(Buffer.from('a\0b'), 'a.ts'), {
      code: 'E_AST_PARSE',
      details: { reason: 'binary' },
    });
    assert.equal(decodeSource(Buffer.from('a\u0001b'), 'a.ts').encoding, 'ascii');
  });
});
