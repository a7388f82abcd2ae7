import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FrameReader, writeFrame } from './frames.ts';

const frame = fc.record({
  head: fc.dictionary(fc.constantFrom('path', 'language', 'skipped'), fc.string({ unit: 'binary' })),
  blocks: fc.array(fc.uint8Array({ maxLength: 300, size: 'max' }), { maxLength: 3 }),
});

test('frames come out as they went in, wherever the bytes are cut', () => {
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 6 }), fc.integer({ min: 1, max: 200 }), (frames, cut) => {
      const bytes = Buffer.concat(frames.map(writeFrame));
      const reader = new FrameReader();
      const read: unknown[] = [];
      for (let at = 0; at < bytes.length; at += cut) {
        reader.add(bytes.subarray(at, at + cut));
        for (let next = reader.next(); next !== undefined; next = reader.next()) {
          read.push({ head: { ...next.head }, blocks: next.blocks.map((block) => Uint8Array.from(block)) });
        }
      }
      assert.deepEqual(
        read,
        frames.map(({ head, blocks }) => ({
          head: { ...head },
          blocks: blocks.map((block) => Uint8Array.from(block)),
        })),
      );
    }),
  );
});

test('a frame larger than the first memory of a reader comes out whole', () => {
  const block = Buffer.alloc(3_000_000, 'abc');
  const bytes = writeFrame({ head: { path: 'a' }, blocks: [block, Buffer.from('end')] });
  const reader = new FrameReader();
  reader.add(bytes.subarray(0, 100_000));
  assert.equal(reader.next(), undefined);
  reader.add(bytes.subarray(100_000));
  const read = reader.next();
  assert.deepEqual(read?.head, { path: 'a' });
  assert.equal(Buffer.compare(read.blocks[0] ?? Buffer.alloc(0), block), 0);
  assert.equal(String(read.blocks[1]), 'end');
});
