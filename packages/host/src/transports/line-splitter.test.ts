import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { LineSplitter } from './line-splitter.ts';

function split(chunks: readonly Uint8Array[], maxBytes = 1000): string[] {
  const lines = new LineSplitter(maxBytes);
  return [...chunks.flatMap((chunk) => [...lines.push(Buffer.from(chunk))]), ...lines.end()].map((line) =>
    line.ok ? line.text : `! ${line.reason}`,
  );
}

function cut(bytes: Buffer, size: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
  return chunks;
}

/** Whether the bytes of a line's beginning are still in memory once more of the line has come. */
async function isBeginningKept(maxBytes: number): Promise<boolean> {
  const lines = new LineSplitter(maxBytes);
  const push = (): WeakRef<ArrayBufferLike> => {
    const chunk = Buffer.alloc(1000, 'a');
    assert.deepEqual([...lines.push(chunk)], []);
    return new WeakRef(chunk.buffer);
  };
  const beginning = push();
  push();
  await setImmediate();
  collectGarbage();
  const isKept = beginning.deref() !== undefined;
  assert.equal([...lines.end()].length, 1);
  return isKept;
}

/** As a program started with --expose-gc has it. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

describe('LineSplitter', () => {
  test('gives the same lines however the bytes are cut', () => {
    const text = fc.array(fc.string({ unit: 'grapheme' }).map((line) => `x${line.replaceAll(/[\n]/g, '')}`));
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 9 }), (lines, size) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        const whole = lines.map((line) => Buffer.from(line).toString('utf8'));
        assert.deepEqual(split(cut(bytes, size)), whole);
      }),
    );
  });

  test('gives a last line that has no newline', () => {
    assert.deepEqual(split([Buffer.from('a\nb')]), ['a', 'b']);
    assert.deepEqual(split([Buffer.from('a\n')]), ['a']);
    assert.deepEqual(split([]), []);
  });

  test('leaves out lines of nothing but whitespace and keeps the rest of a CRLF line', () => {
    assert.deepEqual(split([Buffer.from('\n\r\n \t\n{}\r\n\n')]), ['{}\r']);
  });

  test('reports a line over the limit once, counts bytes, and goes on after it', () => {
    const line = 'ä'.repeat(6);
    for (const size of [1, 3, 1000]) {
      assert.deepEqual(split(cut(Buffer.from(`${line}\nb\n${line}`), size), 11), ['! too_large', 'b', '! too_large']);
      assert.deepEqual(split(cut(Buffer.from(`${line}\nb\n${line}`), size), 12), [line, 'b', line]);
    }
  });

  test('keeps a line that may still become whole in memory, and nothing of one over the limit', async () => {
    assert.equal(await isBeginningKept(5000), true);
    assert.equal(await isBeginningKept(1500), false);
  });

  test('reports a line that is not UTF-8 and goes on after it', () => {
    const bytes = Buffer.concat([Buffer.from([0x22, 0xff, 0x22, 0x0a]), Buffer.from('b\n'), Buffer.from([0xc3])]);
    assert.deepEqual(split(cut(bytes, 1)), ['! invalid_utf8', 'b', '! invalid_utf8']);
  });

  test('passes NUL on, for the JSON scan to refuse', () => {
    assert.deepEqual(split([Buffer.from('{\0}\n')]), ['{\0}']);
  });
});
