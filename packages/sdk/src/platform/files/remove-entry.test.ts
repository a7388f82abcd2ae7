import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openRoot } from '../descriptors/root.ts';
import { sha256Hex } from '../digest.ts';
import { createWorkspace } from './workspace.ts';

function scene(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'remove-file-'));
  const root = openRoot(directory);
  t.after(() => {
    root.close();
    rmSync(directory, { recursive: true });
  });
  return { file: join(directory, 'file'), workspace: createWorkspace(root) };
}

test('a file is removed only while it has the content the caller expects [S0-32]', async (t) => {
  const { file, workspace } = scene(t);
  for (const content of ['small', 'x'.repeat(300_000)]) {
    writeFileSync(file, content);
    await assert.rejects(async () => workspace.removeFile('file', { expectedSha256: sha256Hex('other') }), {
      code: 'E_FILE_IO',
      message: 'File is not what was expected: file',
    });
    assert.equal(readFileSync(file, 'utf8'), content);
    const change = await workspace.removeFile('file', { expectedSha256: sha256Hex(content) });
    assert.equal(change?.before?.sha256, sha256Hex(content));
    assert.ok(!existsSync(file));
  }
});

test('a missing file and a link have no content to expect [S0-32]', async (t) => {
  const { file, workspace } = scene(t);
  const removal = async () => workspace.removeFile('file', { expectedSha256: sha256Hex('') });
  await assert.rejects(removal, { code: 'E_FILE_IO' });
  assert.equal(await workspace.removeFile('file'), null);
  symlinkSync('elsewhere', file);
  await assert.rejects(removal, { code: 'E_FILE_IO' });
  assert.notEqual(await workspace.removeFile('file'), null);
});
