import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { JobStream, TextWatch } from './job.ts';

const KEPT = 256 * 1024;

test('the returned texts, put together, are what was printed, wherever the looks and chunks fall', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 60 }),
    fc.string({ unit: fc.constantFrom('a', 'ö', '€', '😀', '\n', '\ufeff') }).map((text) => Buffer.from(text)),
  );
  const step = fc.record({ size: fc.integer({ min: 1, max: 9 }), looks: fc.boolean() });
  fc.assert(
    fc.property(bytes, fc.array(step, { minLength: 1 }), (printed, steps) => {
      const stream = new JobStream();
      let text = '';
      let to = 0;
      const look = (hasEnded: boolean): void => {
        const news = stream.take(hasEnded);
        assert.deepEqual([news.from, news.missedBytes], [to, 0]);
        text += news.text;
        to = news.to;
      };
      for (let at = 0, turn = 0; at < printed.length; turn++) {
        const { size, looks } = steps[turn % steps.length] ?? { size: 1, looks: true };
        stream.add(printed.subarray(at, at + size));
        at += size;
        if (looks) look(false);
      }
      look(true);
      assert.equal(text, Buffer.from(printed).toString('utf8'));
      assert.deepEqual([to, stream.hasNews], [printed.length, false]);
    }),
    { numRuns: 2000 },
  );
});

test('half a character is no news: a poll waits for its rest', () => {
  const stream = new JobStream();
  stream.add(Buffer.from([0xe2, 0x82]));
  assert.deepEqual([stream.hasNews, stream.take(false).text], [false, '']);
  stream.add(Buffer.from([0xac]));
  assert.deepEqual([stream.hasNews, stream.take(false).text], [true, '€']);
  stream.add(Buffer.from([0xe2]));
  assert.equal(stream.take(true).text, '\ufffd');
});

test('of what was not read in time the newest is kept, and the gap is exact', () => {
  const stream = new JobStream();
  const all = Buffer.from('ü line\n'.repeat(60_000));
  stream.add(all.subarray(0, 1000));
  const first = stream.take(false);
  for (let at = 1000; at < all.length; at += 10_007) stream.add(all.subarray(at, at + 10_007));
  const { text, from, to, missedBytes, missedLines } = stream.take(false);
  assert.equal(from, first.to + missedBytes);
  assert.equal(to, all.length);
  assert.ok(to - from <= KEPT && to - from > KEPT - 4);
  assert.equal(text, all.subarray(from).toString());
  const gap = all.subarray(first.to, from);
  assert.equal(missedLines, gap.filter((byte) => byte === 10).length);
});

test('a text is found across chunks, in what was printed and returned before, and only once it is all there', () => {
  const stream = new JobStream();
  stream.add(Buffer.from('listening on '));
  stream.take(false);
  const watch = new TextWatch(stream, 'on pört 80');
  assert.equal(watch.isThere(), false);
  for (const byte of Buffer.from('pört 8')) {
    stream.add(Uint8Array.of(byte));
    assert.equal(watch.isThere(), false);
  }
  stream.add(Buffer.from('0\n'));
  assert.equal(watch.isThere(), true);
  assert.equal(new TextWatch(stream, 'listening on pört').isThere(), true);
});
