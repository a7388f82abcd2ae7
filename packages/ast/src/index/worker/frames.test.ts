import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Frame, FrameReader, frameBytes } from './frames.ts';

const frame = fc.record({
  head: fc.dictionary(fc.constantFrom('path', 'language', 'skipped'), fc.string({ unit: 'binary' })),
  blocks: fc.array(fc.uint8Array({ maxLength: 300, size: 'max' }), { maxLength: 3 }),
});

function plain({ head, blocks }: Frame): Frame {
  return { head: { ...head }, blocks: blocks.map((block) => Uint8Array.from(block)) };
}

test('frames come out as they went in, wherever the bytes are cut, and stay as they are', () => {
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 6 }), fc.integer({ min: 1, max: 200 }), (frames, cut) => {
      const bytes = Buffer.concat(frames.flatMap(frameBytes));
      const reader = new FrameReader();
      const read: Frame[] = [];
      for (let at = 0; at < bytes.length; at += cut) {
        reader.add(bytes.subarray(at, at + cut));
        for (let next = reader.next(); next !== undefined; next = reader.next()) read.push(next);
      }
      assert.deepEqual(read.map(plain), frames.map(plain));
    }),
  );
});

test('a frame larger than a chunk comes out whole', () => {
  const block = Buffer.alloc(3_000_000, 'abc');
  const bytes = Buffer.concat(frameBytes({ head: { path: 'a' }, blocks: [block, Buffer.from('end')] }));
  const reader = new FrameReader();
  reader.add(bytes.subarray(0, 100_000));
  assert.equal(reader.next(), undefined);
  reader.add(bytes.subarray(100_000));
  const read = reader.next();
  assert.deepEqual(read?.head, { path: 'a' });
  assert.equal(Buffer.compare(read.blocks[0] ?? Buffer.alloc(0), block), 0);
  assert.equal(String(read.blocks[1]), 'end');
});
