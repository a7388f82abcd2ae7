import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { ToolError } from '@tool-runtime/protocol';
import type { ToolContext } from '../../contracts/tool.ts';
import { openRoot } from '../../platform/descriptors/root.ts';
import { sha256Hex } from '../../platform/digest.ts';
import { createWorkspace } from '../../platform/files/workspace.ts';
import { fileWrite } from './file-write.ts';

function scene(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'file-write-'));
  const root = openRoot(directory);
  t.after(() => {
    root.close();
    rmSync(directory, { recursive: true });
  });
  const parts: Partial<ToolContext> = {
    workspace: createWorkspace(root),
    changed: () => assert.fail('the workspace reports its own changes'),
  };
  const context = { ...parts, signal: new AbortController().signal } as ToolContext;
  return {
    directory,
    file: join(directory, 'file'),
    runAtOnce: (args: object) => fileWrite.run(fileWrite.args.parse(args), parts as ToolContext),
    write: async (args: object) => fileWrite.data.parse(await fileWrite.run(fileWrite.args.parse(args), context)),
  };
}

test('file_write counts UTF-8 bytes, makes folders, and says what was replaced [S0-31]', async (t) => {
  const { directory, write } = scene(t);
  const first = await write({ path: 'a/b/file', content: 'héllo' });
  assert.deepEqual(first, {
    written: true,
    bytes: 6,
    size: 6,
    sha256: sha256Hex('héllo'),
    before_sha256: null,
    changed: true,
    created: true,
  });
  const second = await write({ path: 'a/b/file', content: 'héllo' });
  assert.deepEqual(second, { ...first, before_sha256: first.sha256, changed: false, created: false });
  assert.equal(readFileSync(join(directory, 'a/b/file'), 'utf8'), 'héllo');
});

test('file_write makes no folders when told not to [S0-31]', async (t) => {
  const { write } = scene(t);
  await assert.rejects(write({ path: 'a/file', content: '', create_dirs: false }), {
    code: 'E_FILE_IO',
    message: 'Folder not found: a',
  });
  await write({ path: 'file', content: '', create_dirs: false });
});

test('file_write sets 0644 on new files, an explicit mode always, and else keeps the old one [S0-31]', async (t) => {
  const { directory, write } = scene(t);
  const modeAfter = async (args: object): Promise<number> => {
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

test('file_write refuses a mode that is no plain octal, naming the field [S0-31]', () => {
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

test('file_write takes any object as attribution and hands it to the journal [S0-31]', () => {
  const attribution = { agent: 'planner', step: { index: 3, tags: ['a', null] } };
  const parsed = fileWrite.args.parse({ path: 'x', content: '', attribution });
  assert.deepEqual(fileWrite.recordDetails?.(parsed), { attribution });
  assert.deepEqual(fileWrite.recordDetails?.(fileWrite.args.parse({ path: 'x', content: '' })), {});
  for (const bad of ['me', 3, ['me'], null]) {
    assert.ok(!fileWrite.args.safeParse({ path: 'x', content: '', attribution: bad }).success);
  }
});

test('file_write refuses text that has no UTF-8 form instead of mangling it [S0-31]', () => {
  assert.ok(!fileWrite.args.safeParse({ path: 'x', content: 'half \ud83d' }).success);
  assert.ok(fileWrite.args.safeParse({ path: 'x', content: 'whole \u{1f600}' }).success);
});

test('file_write answers a small write without a promise, with an expectation too [S0-31]', (t) => {
  const { runAtOnce } = scene(t);
  for (const args of [{}, { expected_sha256: sha256Hex('x') }, { mode_octal: '600' }]) {
    const data = runAtOnce({ path: 'file', content: 'x', ...args });
    assert.ok(!(data instanceof Promise) && data.written);
  }
});

test('file_write stores the exact bytes that base64 stands for [S0-31]', async (t) => {
  const { file, write } = scene(t);
  const bytes = Buffer.from([0, 0xff, 0xfe, 10, 13]);
  const { bytes: count, sha256 } = await write({ path: 'file', content: bytes.toString('base64'), encoding: 'base64' });
  assert.deepEqual([readFileSync(file), count, sha256], [bytes, 5, sha256Hex(bytes)]);
  for (const content of ['AAE', 'AA==\n', 'A A=', 'AAE_', 'AB==', 'no']) {
    await assert.rejects(write({ path: 'file', content, encoding: 'base64' }), {
      code: 'E_VALIDATION_FAIL',
      path: 'content',
    });
  }
  assert.deepEqual(readFileSync(file), bytes);
});

test('file_write writes only over the content it was told to expect [S0-31]', async (t) => {
  const { file, write } = scene(t);
  writeFileSync(file, 'theirs');
  const expected_sha256 = sha256Hex('mine');
  for (const expected of [expected_sha256, null]) {
    await assert.rejects(write({ path: 'file', content: 'new', expected_sha256: expected }), (thrown: ToolError) => {
      const { next, ...details } = thrown.details;
      assert.deepEqual(details, {
        reason: 'precondition_failed',
        expected_sha256: expected,
        actual_sha256: sha256Hex('theirs'),
      });
      return thrown.code === 'E_FILE_IO' && typeof next === 'string';
    });
    assert.equal(readFileSync(file, 'utf8'), 'theirs');
  }
  await write({ path: 'file', content: 'new', expected_sha256: sha256Hex('theirs') });
  assert.equal(readFileSync(file, 'utf8'), 'new');
  await assert.rejects(write({ path: 'none', content: '', expected_sha256 }), { code: 'E_FILE_IO' });
  await write({ path: 'none', content: '', expected_sha256: null });
});

test('file_write creates and never replaces when told so [S0-31]', async (t) => {
  const { file, write } = scene(t);
  assert.ok((await write({ path: 'file', content: 'first', create_only: true })).created);
  await assert.rejects(write({ path: 'file', content: 'second', create_only: true }), { code: 'E_FILE_IO' });
  assert.equal(readFileSync(file, 'utf8'), 'first');
});

test('file_write appends to what is there, or to nothing [S0-31]', async (t) => {
  const { file, write } = scene(t);
  const first = await write({ path: 'file', content: 'one\n', append: true });
  assert.deepEqual([first.created, first.bytes, first.size], [true, 4, 4]);
  const second = await write({ path: 'file', content: 'two\n', append: true });
  assert.deepEqual([second.created, second.bytes, second.size, second.before_sha256], [false, 4, 8, first.sha256]);
  await write({ path: 'file', content: 'AP8=', append: true, encoding: 'base64' });
  assert.deepEqual(readFileSync(file), Buffer.from('one\ntwo\n\0\xff', 'latin1'));
  assert.equal((await write({ path: 'file', content: '', append: true })).changed, false);
});

test('file_write appends only to the content it was told to expect [S0-31]', async (t) => {
  const { file, write } = scene(t);
  writeFileSync(file, 'a');
  await assert.rejects(write({ path: 'file', content: 'b', append: true, expected_sha256: sha256Hex('x') }), {
    code: 'E_FILE_IO',
  });
  await assert.rejects(write({ path: 'file', content: 'b', append: true, expected_sha256: null }), {
    code: 'E_FILE_IO',
  });
  await write({ path: 'file', content: 'b', append: true, expected_sha256: sha256Hex('a') });
  assert.equal(readFileSync(file, 'utf8'), 'ab');
});

test('file_write can be repeated safely unless it appends [S0-31]', () => {
  const parse = (args: object) => fileWrite.args.parse({ path: 'x', content: '', ...args });
  assert.deepEqual(
    [fileWrite.isIdempotent?.(parse({})), fileWrite.isIdempotent?.(parse({ append: true }))],
    [true, false],
  );
});

test('file_write refuses options that exclude each other and malformed digests [S0-31]', () => {
  const sha256 = sha256Hex('');
  const table: readonly (readonly [object, boolean])[] = [
    [{ create_only: true, append: true }, false],
    [{ create_only: true, expected_sha256: sha256 }, false],
    [{ create_only: true, expected_sha256: null }, true],
    [{ append: true, expected_sha256: sha256 }, true],
    [{ expected_sha256: sha256.toUpperCase() }, false],
    [{ expected_sha256: 'sha256:abc' }, false],
    [{ expected_sha256: '' }, false],
    [{ encoding: 'latin1' }, false],
  ];
  for (const [args, isValid] of table) {
    assert.equal(fileWrite.args.safeParse({ path: 'x', content: '', ...args }).success, isValid, JSON.stringify(args));
  }
});

test('file_write refuses paths outside and git data by policy, and changes nothing [S0-34]', async (t) => {
  const { directory, write } = scene(t);
  writeFileSync(join(directory, 'file'), 'old');
  for (const path of ['../outside', '/tmp/outside', '.git/config', 'sub/../../outside']) {
    await assert.rejects(write({ path, content: 'x' }), { code: path.startsWith('sub/') ? 'E_FILE_IO' : 'E_POLICY' });
  }
  assert.deepEqual(readdirSync(directory), ['file']);
  await write({ path: './file', content: 'x' });
  assert.equal(readFileSync(join(directory, 'file'), 'utf8'), 'x');
});
