import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { ArtifactStore } from '../../contracts/artifacts.ts';
import { OutputCapture, OutputKeeper } from './output-capture.ts';

interface Watched {
  readonly store: ArtifactStore;
  readonly events: readonly string[];
}

/** A disk with room for so many bytes. */
function smallDisk(room: number): Watched {
  const events: string[] = [];
  let left = room;
  const store: ArtifactStore = {
    create() {
      events.push('create');
      return {
        handle: 'artifact:0',
        write(chunk) {
          left -= chunk.length;
          if (left < 0) throw Object.assign(new TypeError('no space left'), { code: 'ENOSPC' });
        },
        finish() {
          events.push('finish');
          return { handle: 'artifact:0', digest: 'sha256:0', bytes: room - left };
        },
        discard: () => void events.push('discard'),
      };
    },
    read: () => assert.fail('must not be read'),
    prune: () => 0,
  };
  return { store, events };
}

const bytes = (count: number): Uint8Array => new Uint8Array(count);

describe('kept output', () => {
  test('short output stays in memory and makes no artifact', () => {
    const { store, events } = smallDisk(100);
    const keeper = new OutputKeeper(store, 10);
    keeper.add(bytes(10));
    assert.equal(keeper.finish(), undefined);
    assert.deepEqual(events, []);
  });

  test('longer output becomes an artifact with all of it [S2-22]', () => {
    const { store, events } = smallDisk(100);
    const keeper = new OutputKeeper(store, 10);
    for (const count of [6, 6, 6]) keeper.add(bytes(count));
    assert.equal(keeper.finish()?.bytes, 18);
    assert.equal(keeper.problem, undefined);
    assert.deepEqual(events, ['create', 'finish']);
  });

  for (const room of [3, 15]) {
    test(`a disk with room for ${room} bytes costs the artifact, not the command, and leaves nothing open`, () => {
      const { store, events } = smallDisk(room);
      const keeper = new OutputKeeper(store, 10);
      for (const count of [6, 6, 6]) keeper.add(bytes(count));
      assert.equal(keeper.finish(), undefined);
      assert.equal((keeper.problem as NodeJS.ErrnoException).code, 'ENOSPC');
      assert.equal(keeper.bytes, 18);
      assert.deepEqual(events, ['create', 'discard']);
    });
  }

  test('what is no longer needed is discarded once', () => {
    const { store, events } = smallDisk(100);
    const keeper = new OutputKeeper(store, 10);
    keeper.add(bytes(20));
    keeper.discard();
    keeper.discard();
    assert.deepEqual(events, ['create', 'discard']);
  });
});

function capture(text: string, maxBytes: number, sizes: readonly number[]) {
  const bytes = Buffer.from(text);
  const stream = new OutputCapture(maxBytes);
  let at = 0;
  for (let turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    stream.add(bytes.subarray(at, at + size));
    at += size;
  }
  return stream.finish();
}

test('keeps what fits, whole, whatever the pieces [S0-38]', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      (text, sizes) => {
        const bytes = Buffer.byteLength(text);
        assert.deepEqual(capture(text, bytes, sizes), { text, totalBytes: bytes, truncated: false });
      },
    ),
  );
});

test('keeps the beginning and the end of what does not fit, says how much is missing, and splits no character [S0-38]', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', 'ö', '€', '😀', '\n'), minLength: 1, maxLength: 200 }),
      fc.integer({ min: 0, max: 300 }),
      fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1 }),
      (text, maxBytes, sizes) => {
        const total = Buffer.byteLength(text);
        fc.pre(total > maxBytes);
        const kept = capture(text, maxBytes, sizes);
        assert.equal(kept.totalBytes, total);
        assert.equal(kept.truncated, true);
        const [, head = '', bytes, lines, tail = ''] =
          /^(.*)\n\[… (\d+) bytes, (\d+) lines left out …\]\n(.*)$/s.exec(kept.text) ?? [];
        assert.ok(text.startsWith(head) && text.endsWith(tail));
        const from = Buffer.byteLength(head);
        assert.deepEqual(kept.gap, { from, bytes: Number(bytes), lines: Number(lines) });
        assert.equal(Number(bytes), total - from - Buffer.byteLength(tail));
        const leftOut = Buffer.from(text).subarray(from, from + Number(bytes));
        assert.equal(leftOut.filter((byte) => byte === 10).length, Number(lines));
        assert.ok(Buffer.byteLength(head) > Math.ceil(maxBytes / 2) - 4);
        assert.ok(Buffer.byteLength(tail) > Math.floor(maxBytes / 2) - 4);
        assert.ok(Buffer.byteLength(head) + Buffer.byteLength(tail) <= maxBytes);
      },
    ),
  );
});

test('bytes that are no text are counted as they are [S0-38]', () => {
  const stream = new OutputCapture(4);
  stream.add(Buffer.from([0xff, 0xfe, 0x80, 0x80]));
  assert.equal(stream.finish().truncated, false);
  stream.add(Buffer.from([0xff]));
  assert.equal(stream.finish().totalBytes, 5);
});
