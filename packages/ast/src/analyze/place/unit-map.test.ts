import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createUnitMap } from './unit-map.ts';

const text = fc.string({
  unit: fc.constantFrom('a', ' ', '\t', 'é', 'ß', '\uFEFF', '漢', '😀', '👩‍🚀'),
  maxLength: 40,
});

describe('offsets in another unit', () => {
  test('S0-56 are those of the same character in UTF-16, for bytes and code points alike', () => {
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
