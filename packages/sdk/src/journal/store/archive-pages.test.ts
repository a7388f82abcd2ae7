import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { ArchiveFile } from '../../platform/state/archive-files.ts';
import { decodePages, encodePage } from './archive-pages.ts';

function fileOf(bytes: Buffer): ArchiveFile {
  return { size: bytes.length, read: (offset, length) => bytes.subarray(offset, offset + length), close() {} };
}

test('pages come back as they were, one by one, and any gunzip unpacks them as one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: 'grapheme', maxLength: 300 })), async (texts) => {
      const bytes = Buffer.concat(await Promise.all(texts.map(encodePage)));
      const read: Uint8Array[] = [];
      assert.deepEqual([...decodePages(fileOf(bytes), (piece) => read.push(piece))], texts);
      assert.deepEqual(Buffer.concat(read), bytes);
      if (texts.length > 0) assert.equal(gunzipSync(bytes).toString('utf8'), texts.join(''));
    }),
  );
});

test('bytes that are not such pages are refused, whatever they are', async () => {
  const page = await encodePage('{"kind":"child"}\n'.repeat(20));
  for (let offset = 0; offset < page.length; offset++) {
    const changed = Buffer.from(page);
    changed[offset] = (changed[offset] ?? 0) ^ 0xff;
    assert.throws(() => [...decodePages(fileOf(changed))], TypeError, `changed at ${offset}`);
    if (offset > 0) assert.throws(() => [...decodePages(fileOf(page.subarray(0, offset)))], TypeError);
  }
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1 }), (noise) => {
      assert.throws(() => [...decodePages(fileOf(Buffer.concat([page, noise])))], TypeError);
    }),
  );
});
