import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { ToolContext } from '../../contracts/tool.ts';
import { sha256Hex } from '../../platform/digest.ts';
import { openRoot } from '../../platform/root.ts';
import { createWorkspace } from '../../platform/workspace.ts';
import { fileRead } from './file-read.ts';

function scene(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'file-read-'));
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
    changed: () => assert.fail('a read changes nothing'),
  };
  return {
    put: (bytes: string | Uint8Array) => writeFileSync(join(directory, 'file'), bytes),
    read: async (args: Record<string, unknown>) =>
      fileRead.data.parse(await fileRead.run(fileRead.args.parse(args), context)),
  };
}

test('S0-30 file_read answers text, digest and size, byte order mark included', async (t) => {
  const { put, read } = scene(t);
  for (const text of ['', 'héllo\n', '\ufeffwith mark', 'nul \0 inside', '\u{1f600}']) {
    put(text);
    const size = Buffer.byteLength(text);
    assert.deepEqual(await read({ path: 'file' }), { content: text, sha256: sha256Hex(text), size, truncated: false });
  }
});

test('S0-30 file_read gives bytes that are no UTF-8 as base64 and says so', async (t) => {
  const { put, read } = scene(t);
  for (const bytes of [[0xff], [0x61, 0xc3], [0xed, 0xa0, 0x80], [0xc0, 0xaf]]) {
    put(Uint8Array.from(bytes));
    assert.deepEqual(await read({ path: 'file' }), {
      content: Buffer.from(bytes).toString('base64'),
      sha256: sha256Hex(Uint8Array.from(bytes)),
      size: bytes.length,
      truncated: false,
      binary: true,
      encoding: 'base64',
    });
  }
});

test('S0-30 file_read cuts text between characters and keeps the digest of the whole', async (t) => {
  const { put, read } = scene(t);
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'grapheme', minLength: 1 }),
      fc.integer({ min: 1, max: 20 }),
      async (text, max_bytes) => {
        put(text);
        const data = await read({ path: 'file', max_bytes });
        const size = Buffer.byteLength(text);
        assert.ok(text.startsWith(data.content));
        assert.deepEqual(
          [data.sha256, data.size, data.truncated, data.binary],
          [sha256Hex(text), size, size > max_bytes, undefined],
        );
        const left = size - Buffer.byteLength(data.content);
        // Nothing is lost but what does not fit: at most the three bytes of a character cut in two.
        assert.ok(size <= max_bytes ? left === 0 : Buffer.byteLength(data.content) > max_bytes - 4);
      },
    ),
  );
});

test('S0-30 file_read cuts binary content exactly at max_bytes', async (t) => {
  const { put, read } = scene(t);
  put(Uint8Array.from([0xff, 0xfe, 0xfd, 0xfc]));
  const { content, truncated } = await read({ path: 'file', max_bytes: 3 });
  assert.deepEqual([content, truncated], [Buffer.from([0xff, 0xfe, 0xfd]).toString('base64'), true]);
});

test('S0-30 file_read takes one mebibyte by default and sixty-four at most', () => {
  assert.equal(fileRead.args.parse({ path: 'x' }).max_bytes, 1_048_576);
  assert.ok(fileRead.args.safeParse({ path: 'x', max_bytes: 67_108_864 }).success);
  for (const max_bytes of [0, -1, 1.5, 67_108_865, '10']) {
    assert.ok(!fileRead.args.safeParse({ path: 'x', max_bytes }).success);
  }
  assert.ok(!fileRead.args.safeParse({ path: 'x', extra: 1 }).success);
});

test('S0-34 file_read refuses a path outside by policy, and reads its twin inside', async (t) => {
  const { put, read } = scene(t);
  put('x');
  await assert.rejects(read({ path: '../file' }), { code: 'E_POLICY' });
  assert.equal((await read({ path: './file' })).content, 'x');
});
