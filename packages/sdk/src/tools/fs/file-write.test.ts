import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { ToolContext } from '../../contracts/tool.ts';
import { sha256Hex } from '../../platform/digest.ts';
import { openRoot } from '../../platform/root.ts';
import { createWorkspace } from '../../platform/workspace.ts';
import { fileWrite } from './file-write.ts';

function scene(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'file-write-'));
  const root = openRoot(directory);
  t.after(() => {
    root.close();
    rmSync(directory, { recursive: true });
  });
  const context: ToolContext = {
    callId: 'call',
    sessionId: 'session',
    workspace: createWorkspace(root),
    signal: new AbortController().signal,
    progress: () => {},
    warn: () => {},
    changed: () => assert.fail('the workspace reports its own changes'),
  };
  return {
    directory,
    write: async (args: Record<string, unknown>) =>
      fileWrite.data.parse(await fileWrite.run(fileWrite.args.parse(args), context)),
  };
}

test('S0-31 file_write counts UTF-8 bytes, makes folders, and says what was replaced', async (t) => {
  const { directory, write } = scene(t);
  const first = await write({ path: 'a/b/file', content: 'héllo' });
  assert.deepEqual(first, { written: true, bytes: 6, sha256: sha256Hex('héllo'), before_sha256: null, changed: true });
  const second = await write({ path: 'a/b/file', content: 'héllo' });
  assert.deepEqual(second, { ...first, before_sha256: first.sha256, changed: false });
  assert.equal(readFileSync(join(directory, 'a/b/file'), 'utf8'), 'héllo');
});

test('S0-31 file_write makes no folders when told not to', async (t) => {
  const { write } = scene(t);
  await assert.rejects(write({ path: 'a/file', content: '', create_dirs: false }), {
    code: 'E_FILE_IO',
    message: 'Folder not found: a',
  });
  await write({ path: 'file', content: '', create_dirs: false });
});

test('S0-31 file_write sets 0644 on new files, an explicit mode always, and else keeps the old one', async (t) => {
  const { directory, write } = scene(t);
  const modeAfter = async (args: Record<string, unknown>): Promise<number> => {
    await write({ path: 'file', content: 'x', ...args });
    return statSync(join(directory, 'file')).mode & 0o7777;
  };
  assert.deepEqual(
    [
      await modeAfter({}),
      await modeAfter({ mode_octal: '0755' }),
      await modeAfter({}),
      await modeAfter({ mode_octal: '600' }),
    ],
    [0o644, 0o755, 0o755, 0o600],
  );
});

test('S0-31 file_write refuses a mode that is no plain octal, naming the field', () => {
  for (const mode_octal of ['', '64', '0888', '4755', '1777', '00644', '0o644', '-644', 420]) {
    const parsed = fileWrite.args.safeParse({ path: 'x', content: '', mode_octal });
    assert.deepEqual(
      parsed.error?.issues.map((issue) => issue.path),
      [['mode_octal']],
      String(mode_octal),
    );
  }
  for (const mode_octal of ['644', '0644', '000', '0777']) {
    assert.ok(fileWrite.args.safeParse({ path: 'x', content: '', mode_octal }).success);
  }
});

test('S0-31 file_write takes any object as attribution and hands it to the journal', () => {
  const attribution = { agent: 'planner', step: { index: 3, tags: ['a', null] } };
  const parsed = fileWrite.args.parse({ path: 'x', content: '', attribution });
  assert.deepEqual(fileWrite.recordDetails?.(parsed), { attribution });
  assert.deepEqual(fileWrite.recordDetails?.(fileWrite.args.parse({ path: 'x', content: '' })), {});
  for (const bad of ['me', 3, ['me'], null]) {
    assert.ok(!fileWrite.args.safeParse({ path: 'x', content: '', attribution: bad }).success);
  }
});

test('S0-31 file_write refuses text that has no UTF-8 form instead of mangling it', () => {
  assert.ok(!fileWrite.args.safeParse({ path: 'x', content: 'half \ud83d' }).success);
  assert.ok(fileWrite.args.safeParse({ path: 'x', content: 'whole \u{1f600}' }).success);
});

test('S0-34 file_write refuses paths outside and git data by policy, and changes nothing', async (t) => {
  const { directory, write } = scene(t);
  writeFileSync(join(directory, 'file'), 'old');
  for (const path of ['../outside', '/tmp/outside', '.git/config', 'sub/../../outside']) {
    await assert.rejects(write({ path, content: 'x' }), { code: path.startsWith('sub/') ? 'E_FILE_IO' : 'E_POLICY' });
  }
  assert.deepEqual(readdirSync(directory), ['file']);
  await write({ path: './file', content: 'x' });
  assert.equal(readFileSync(join(directory, 'file'), 'utf8'), 'x');
});
