/** What every ArtifactStore must do, on the disk of one host and in a store that hosts share. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, type TestContext, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import type { ArtifactStore } from '../contracts/artifacts.ts';

/** Two hosts of one workspace; the same store twice where there is one host. */
export interface ArtifactPair {
  readonly first: ArtifactStore;
  readonly second: ArtifactStore;
  /** Resolves when the second host can read what the first one has finished. */
  settled(): Promise<void>;
}

export function artifactStoreSuite(name: string, open: (t: TestContext) => Promise<ArtifactPair>): void {
  describe(`${name} as ArtifactStore`, { concurrency: true }, () => {
    test('what one host finished the other reads, in pages and from the end', async (t) => {
      const { first, second, settled } = await open(t);
      const content = Buffer.from(Array.from({ length: 40_000 }, (_, at) => `line ${at}\n`).join(''));
      const writer = first.create();
      for (let at = 0; at < content.length; at += 100_000) writer.write(content.subarray(at, at + 100_000));
      const { handle, digest, bytes } = writer.finish();
      assert.equal(digest, `sha256:${createHash('sha256').update(content).digest('hex')}`);
      assert.equal(bytes, content.length);
      await settled();
      for (const store of [first, second]) {
        const page = await store.read(handle, { offset: 1000, length: 5000 });
        assert.ok(Buffer.from(page.bytes).equals(content.subarray(1000, 6000)));
        assert.deepEqual([page.offset, page.totalBytes], [1000, content.length]);
        const tail = await store.read(handle, { offset: -10, length: 100 });
        assert.ok(Buffer.from(tail.bytes).equals(content.subarray(-10)));
        assert.equal((await store.read(handle, { offset: content.length + 5, length: 10 })).bytes.length, 0);
      }
    });

    test('an unfinished one is read by its own host, and a discarded one by none', async (t) => {
      const { first, second } = await open(t);
      const writer = first.create();
      writer.write(Buffer.from('begun'));
      assert.equal(Buffer.from((await first.read(writer.handle, { offset: 0, length: 10 })).bytes).toString(), 'begun');
      writer.discard();
      for (const store of [first, second]) {
        await assert.rejects(async () => store.read(writer.handle, { offset: 0, length: 10 }), isUnknown);
      }
    });

    test('a handle that was not given out is unknown', async (t) => {
      const { second } = await open(t);
      for (const handle of [`artifact:${'0'.repeat(32)}`, 'artifact:../x', 'artifact:*', '']) {
        await assert.rejects(async () => second.read(handle, { offset: 0, length: 1 }), isUnknown);
      }
    });
  });
}

function isUnknown(error: unknown): boolean {
  return isToolError(error) && error.code === 'E_FILE_IO' && error.message.startsWith('No such artifact');
}
