import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { type Line, splitLines } from './split-lines.ts';

async function split(chunks: readonly (Uint8Array | string)[], maxBytes = 1000): Promise<Line[]> {
  async function* read() {
    yield* chunks;
  }
  const lines: Line[] = [];
  for await (const line of splitLines(read(), maxBytes)) lines.push(line);
  return lines;
}

/** By itself, so that nobody but the reader still knows the bytes afterwards. */
async function* begin() {
  const beginning = new Uint8Array(1000).fill(0x61);
  yield beginning;
  return new WeakRef(beginning.buffer);
}

/** Whether the bytes of a line's beginning are still in memory once more of the line has come. */
async function isBeginningKept(maxBytes: number): Promise<boolean> {
  let isKept = true;
  async function* read() {
    const watched = yield* begin();
    yield new Uint8Array(1000).fill(0x62);
    yield new Uint8Array(1000).fill(0x63);
    await setImmediate();
    collectGarbage();
    isKept = watched.deref() !== undefined;
  }
  for await (const line of splitLines(read(), maxBytes)) assert.equal(line.isWhole, false);
  return isKept;
}

/** As a program started with --expose-gc has it. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

const whole = (text: string): Line => ({ text, isWhole: true });
const cutOff = (text: string): Line => ({ text, isWhole: false });

describe('splitting bytes into lines', () => {
  test('gives whole lines and marks what is left at the end', async () => {
    assert.deepEqual(await split(['a\nb', 'c\n\n', 'd']), [whole('a'), whole('bc'), whole(''), cutOff('d')]);
    assert.deepEqual(await split([]), [cutOff('')]);
  });

  test('is not disturbed by where the bytes are cut', async () => {
    const text = '{"a":"ä€😀"}\n\n{"b":1}\nrest';
    const bytes = new TextEncoder().encode(text);
    const expected = await split([bytes]);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 20 }), async (given) => {
        const places = [0, ...given.toSorted((left, right) => left - right), bytes.length];
        const chunks = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
        assert.deepEqual(await split(chunks), expected);
      }),
    );
  });

  test('keeps a line that may still become whole in memory, and nothing of one over the limit', async () => {
    assert.equal(await isBeginningKept(5000), true);
    assert.equal(await isBeginningKept(1500), false);
  });

  test('lets go of a line over the limit and of bytes that are no UTF-8, and reads on', async () => {
    const bad = new Uint8Array([0x22, 0xff, 0x22, 0x0a]);
    assert.deepEqual(await split(['12345\n123456', '7\n', bad, 'ok\n'], 5), [
      whole('12345'),
      { fault: 'too_large', isWhole: true },
      { fault: 'invalid_utf8', isWhole: true },
      whole('ok'),
      cutOff(''),
    ]);
  });
});
