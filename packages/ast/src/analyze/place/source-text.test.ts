import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createUnitMap, SourceText } from './source-text.ts';

describe('a source text', () => {
  const source = new SourceText('\uFEFFa😀b\r\nlast é line\n');

  test('converts columns of its lines and knows where they end, before a carriage return [S0-56]', () => {
    assert.deepEqual(source.point({ line: 1, col: 9 }, 'byte'), { line: 1, col: 5 });
    assert.deepEqual(source.point({ line: 1, col: 4 }, 'code_point'), { line: 1, col: 5 });
    assert.deepEqual(source.point({ line: 2, col: 8 }, 'byte'), { line: 2, col: 7 });
    assert.deepEqual(source.point({ line: 1, col: Number.POSITIVE_INFINITY }, 'byte'), { line: 1, col: 6 });
    assert.equal(source.point({ line: 4, col: 1 }, 'byte'), undefined);
  });

  test('finds offsets from the start of the file, also at its very end', () => {
    const text = '\uFEFFa😀b\r\nlast é line\n';
    for (const needle of ['a', 'b', 'last', 'line']) {
      const at = text.indexOf(needle);
      const bytes = Buffer.byteLength(text.slice(0, at));
      assert.deepEqual(source.pointAt(bytes, 'byte'), source.pointAt(at, 'utf16'), needle);
    }
    assert.deepEqual(source.pointAt(Buffer.byteLength(text), 'byte'), { line: 3, col: 1 });
    assert.deepEqual(source.pointAt(text.indexOf('é'), 'utf16'), { line: 2, col: 6 });
  });

  test('may be an excerpt that begins further down', () => {
    const excerpt = new SourceText('é x\ny', 7);
    assert.deepEqual(excerpt.point({ line: 7, col: 4 }, 'byte'), { line: 7, col: 3 });
    assert.deepEqual(excerpt.point({ line: 8, col: 1 }, 'byte'), { line: 8, col: 1 });
    assert.equal(excerpt.point({ line: 1, col: 1 }, 'byte'), undefined);
    assert.equal(new SourceText('\uFEFFx', 2).hasMark, false);
    assert.equal(source.hasMark, true);
  });
});

const text = fc.string({
  unit: fc.constantFrom('a', ' ', '\t', 'é', 'ß', '\uFEFF', '漢', '😀', '👩‍🚀'),
  maxLength: 40,
});

describe('offsets in another unit', () => {
  test('are those of the same character in UTF-16, for bytes and code points alike [S0-56]', () => {
    fc.assert(
      fc.property(text, (sample) => {
        const byByte = createUnitMap(sample, 'byte');
        const byPoint = createUnitMap(sample, 'code_point');
        let [bytes, points, units] = [0, 0, 0];
        for (const character of sample) {
          assert.deepEqual([byByte(bytes), byPoint(points)], [units, units]);
          bytes += Buffer.byteLength(character);
          points += 1;
          units += character.length;
        }
        assert.deepEqual([byByte(bytes), byPoint(points)], [units, units]);
      }),
    );
  });

  test('stay inside the text, whatever the number', () => {
    fc.assert(
      fc.property(text, fc.integer(), fc.constantFrom('byte', 'code_point', 'utf16'), (sample, offset, unit) => {
        const mapped = createUnitMap(sample, unit)(offset);
        assert.ok(mapped >= 0 && mapped <= sample.length);
      }),
    );
  });
});
