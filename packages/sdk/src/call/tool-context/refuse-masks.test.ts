import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openScratchRuntime, type ScratchRuntime } from '../../testing/scratch-runtime.ts';

const SECRET = 'known-to-all-42';

async function withFile(content: string, use: (scratch: ScratchRuntime) => Promise<void>): Promise<void> {
  const scratch = await openScratchRuntime({ secrets: [SECRET] });
  try {
    writeFileSync(join(scratch.workspace, 'a.env'), content);
    await use(scratch);
  } finally {
    await scratch.dispose();
  }
}

describe('a mask that is written back', () => {
  const content = `A=1\nTOKEN=${SECRET}\nB=2\nC=3\nD=4\nE=5\nF=6\n`;

  test('is refused where the file holds the secret, and the file stays as it was', () =>
    withFile(content, async ({ session, workspace }) => {
      const read = await session.call('file_read', { path: 'a.env' });
      const shown = (read.data as { content: string }).content;
      assert.deepEqual([shown, read.redacted], [content.replace(SECRET, '[redacted]'), 1]);
      const written = await session.call('file_write', { path: 'a.env', content: shown.replace('F=6', 'F=7') });
      assert.equal(written.errors[0]?.details?.['reason'], 'masked_secret', JSON.stringify(written));
      const patch = '--- a/a.env\n+++ b/a.env\n@@ -1,3 +1,3 @@\n A=1\n-TOKEN=[redacted]\n+TOKEN=[redacted] \n B=2\n';
      assert.equal((await session.call('file_patch', { path: 'a.env', unified_diff: patch })).ok, false);
      assert.equal(readFileSync(join(workspace, 'a.env'), 'utf8'), content);
    }));

  test('a change of other lines passes and keeps the secret', () =>
    withFile(content, async ({ session, workspace }) => {
      const patch = '--- a/a.env\n+++ b/a.env\n@@ -5,3 +5,3 @@\n D=4\n-E=5\n+E=6\n F=6\n';
      const patched = await session.call('file_patch', { path: 'a.env', unified_diff: patch });
      assert.deepEqual(patched.errors, []);
      assert.equal(readFileSync(join(workspace, 'a.env'), 'utf8'), content.replace('E=5', 'E=6'));
    }));

  test('where the file holds no secret the word is written, with a warning when it is new', () =>
    withFile('say nothing\n', async ({ session, workspace }) => {
      const written = await session.call('file_write', { path: 'a.env', content: 'say [redacted]\n' });
      assert.deepEqual([written.ok, written.warnings[0]?.details?.['reason']], [true, 'mask_written']);
      const again = await session.call('file_write', { path: 'a.env', content: 'say  [redacted]\n' });
      assert.deepEqual([again.ok, again.warnings], [true, []]);
      assert.equal(readFileSync(join(workspace, 'a.env'), 'utf8'), 'say  [redacted]\n');
    }));
});
