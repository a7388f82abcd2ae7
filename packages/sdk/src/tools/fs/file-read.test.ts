import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { ErrorEntry } from '@tool-runtime/protocol';
import fc from 'fast-check';
import type { ToolContext } from '../../contracts/tool.ts';
import { openRoot } from '../../platform/descriptors/root.ts';
import { sha256Hex } from '../../platform/digest.ts';
import { createWorkspace } from '../../platform/files/workspace.ts';
import { openScratchRuntime } from '../../testing/scratch-runtime.ts';
import { fileRead, newlineStyle } from './file-read.ts';

function scene(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'file-read-'));
  const root = openRoot(directory);
  t.after(() => {
    root.close();
    rmSync(directory, { recursive: true });
  });
  const warnings: ErrorEntry[] = [];
  const parts: Partial<ToolContext> = {
    workspace: createWorkspace(root),
    warn: (entry) => warnings.push(entry),
    changed: () => assert.fail('a read changes nothing'),
  };
  const signal = new AbortController().signal;
  const context = { ...parts, signal } as ToolContext;
  const withoutSignal = {
    ...parts,
    get signal(): AbortSignal {
      return assert.fail('nobody may ask for the signal');
    },
  } as ToolContext;
  return {
    file: join(directory, 'file'),
    warnings,
    put: (bytes: string | Uint8Array) => writeFileSync(join(directory, 'file'), bytes),
    runAtOnce: (args: object) => fileRead.run(fileRead.args.parse({ path: 'file', ...args }), withoutSignal),
    read: async (args: object = {}) =>
      fileRead.data.parse(await fileRead.run(fileRead.args.parse({ path: 'file', ...args }), context)),
  };
}

test('file_read answers text, digest and size, byte order mark included [S0-30]', async (t) => {
  const { put, read } = scene(t);
  for (const [text, newline] of [
    ['', 'none'],
    ['héllo\n', 'lf'],
    ['a\r\nb\r\n', 'crlf'],
    ['\u{1f600}', 'none'],
  ]) {
    put(text as string);
    const size = Buffer.byteLength(text as string);
    const wanted = {
      content: text,
      sha256: sha256Hex(text as string),
      size,
      truncated: false,
      encoding: 'utf-8',
      newline,
    };
    assert.deepEqual(await read(), wanted);
  }
  put('\ufeffwith mark');
  const { content, bom } = await read();
  assert.deepEqual([content, bom], ['\ufeffwith mark', true]);
});

test('file_read answers a small file without a promise and without asking for a signal [S0-30]', (t) => {
  const { put, runAtOnce } = scene(t);
  put('x'.repeat(1024));
  for (const args of [{}, { limit: 1 }, { encoding: 'base64' }]) {
    const data = runAtOnce(args);
    assert.ok(!(data instanceof Promise));
    assert.equal(data.size, 1024);
  }
});

test('file_read gives bytes that are no text as base64 and says so [S0-30]', async (t) => {
  const { put, read } = scene(t);
  for (const bytes of [[0xff], [0x61, 0xc3], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0x61, 0, 0x62], [0, 0]]) {
    put(Uint8Array.from(bytes));
    assert.deepEqual(await read(), {
      content: Buffer.from(bytes).toString('base64'),
      sha256: sha256Hex(Uint8Array.from(bytes)),
      size: bytes.length,
      truncated: false,
      binary: true,
      encoding: 'base64',
    });
  }
});

test('file_read decodes other encodings and names them [S0-30]', async (t) => {
  const { put, read } = scene(t);
  const text = 'schöne Grüße\r\n';
  for (const [bytes, content, encoding, bom] of [
    [Buffer.from(`\ufeff${text}`, 'utf16le'), `\ufeff${text}`, 'utf-16le', true],
    [Buffer.from(`\ufeff${text}`, 'utf16le').swap16(), `\ufeff${text}`, 'utf-16be', true],
    [Buffer.from(text, 'utf16le'), text, 'utf-16le', undefined],
    [Buffer.from(text, 'latin1'), text, 'latin1', undefined],
  ] as const) {
    put(bytes);
    const data = await read();
    assert.deepEqual([data.content, data.encoding, data.bom, data.newline], [content, encoding, bom, 'crlf']);
  }
});

test('file_read takes the caller at its word about the encoding, and refuses what it is not [S0-30]', async (t) => {
  const { put, read } = scene(t);
  put('nul \0 inside é');
  assert.equal((await read({ encoding: 'utf-8' })).content, 'nul \0 inside é');
  assert.equal((await read({ encoding: 'latin1' })).content, 'nul \0 inside Ã©');
  assert.equal((await read({ encoding: 'base64' })).content, Buffer.from('nul \0 inside é').toString('base64'));
  await assert.rejects(read({ encoding: 'utf-16le' }), {
    code: 'E_FILE_IO',
    message: 'File is not valid utf-16le: file',
  });
  put(Uint8Array.from([0x61, 0xff]));
  await assert.rejects(read({ encoding: 'utf-8' }), { code: 'E_FILE_IO', message: 'File is not valid utf-8: file' });
});

test('file_read cuts text between characters and keeps the digest of the whole [S0-30]', async (t) => {
  const { put, read } = scene(t);
  const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter((value) => !value.includes('\0'));
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 20 }), async (text, max_bytes) => {
      put(text);
      const data = await read({ max_bytes });
      const size = Buffer.byteLength(text);
      assert.ok(text.startsWith(data.content));
      assert.deepEqual(
        [data.sha256, data.size, data.truncated, data.binary],
        [sha256Hex(text), size, size > max_bytes, undefined],
      );
      const left = size - Buffer.byteLength(data.content);
      // Nothing is lost but what does not fit: at most the three bytes of a character cut in two.
      assert.ok(size <= max_bytes ? left === 0 : Buffer.byteLength(data.content) > max_bytes - 4);
    }),
  );
});

test('file_read cuts binary content exactly at max_bytes [S0-30]', async (t) => {
  const { put, read } = scene(t);
  put(Uint8Array.from([0xff, 0xfd, 0xfc, 0xfb]));
  const { content, truncated } = await read({ max_bytes: 3 });
  assert.deepEqual([content, truncated], [Buffer.from([0xff, 0xfd, 0xfc]).toString('base64'), true]);
});

test('file_read pages by lines, in small and in large files [S0-30]', async (t) => {
  const { put, read } = scene(t);
  for (const count of [10, 100_000]) {
    const lines = Array.from({ length: count }, (_, index) => `line ${index + 1}\n`);
    put(lines.join(''));
    const whole = await read({ max_bytes: 64 * 1024 * 1024 });
    for (const [offset, limit] of [
      [1, 3],
      [count - 1, 5],
      [Math.floor(count / 2), 2],
    ] as const) {
      const data = await read({ offset, limit });
      const some = lines.slice(offset - 1, offset - 1 + limit);
      assert.deepEqual(data, {
        ...whole,
        content: some.join(''),
        lines: { start: offset, end: offset - 1 + some.length },
        total_lines: count,
      });
    }
  }
  assert.equal((await read({ offset: 99_999 })).content, 'line 99999\nline 100000\n');
  assert.equal((await read({ limit: 1 })).content, 'line 1\n');
});

test('file_read says when the lines asked for are longer than max_bytes or do not exist [S0-30]', async (t) => {
  const { put, read, warnings } = scene(t);
  put('aaaa\nbbbb\ncccc\n');
  const cut = await read({ offset: 2, max_bytes: 7 });
  assert.deepEqual(
    [cut.content, cut.truncated, cut.lines, cut.total_lines],
    ['bbbb\ncc', true, { start: 2, end: 3 }, 3],
  );
  assert.equal(warnings.length, 0);
  const past = await read({ offset: 9 });
  assert.deepEqual([past.content, past.lines, past.total_lines], ['', { start: 9, end: 8 }, 3]);
  assert.deepEqual(
    warnings.map((entry) => entry.message),
    ['File has only 3 lines: file'],
  );
});

test('file_read refuses to count lines where there are none [S0-30]', async (t) => {
  const { put, read } = scene(t);
  put(Uint8Array.from([0, 10, 0xff, 10]));
  await assert.rejects(read({ offset: 2 }), {
    code: 'E_FILE_IO',
    message: 'File cannot be read by lines, the file is binary: file',
  });
  await assert.rejects(read({ limit: 2, encoding: 'base64' }), { code: 'E_FILE_IO' });
  assert.equal((await read({ offset: 2, encoding: 'latin1' })).content, '\xff\n');
});

test('file_read decodes lines that are not what the beginning of the file promised [S0-30]', async (t) => {
  const { put, read } = scene(t);
  put(Buffer.concat([Buffer.from('plain\n'.repeat(200_000)), Buffer.from('Gr\xfc\xdfe, lange Zeile\n', 'latin1')]));
  const { content, encoding } = await read({ offset: 200_001 });
  assert.deepEqual([content, encoding], ['Grüße, lange Zeile\n', 'latin1']);
});

test('file_read keeps little of a gibibyte in memory [S0-30] (deep)', async (t) => {
  const { put, file, read } = scene(t);
  put('first\nsecond\n');
  truncateSync(file, 1024 ** 3);
  const before = process.resourceUsage().maxRSS;
  const { content, total_lines, size } = await read({ offset: 2, limit: 1, encoding: 'latin1', max_bytes: 100 });
  const grown = process.resourceUsage().maxRSS - before;
  assert.deepEqual([content, total_lines, size], ['second\n', 3, 1024 ** 3]);
  assert.ok(grown < 32 * 1024, `${grown} KiB`);
});

test('file_read hands back the beginning of a long file and keeps no more of it [S0-30]', async (t) => {
  const { put, file, read } = scene(t);
  put('first\nsecond\n');
  truncateSync(file, 256 * 1024 ** 2);
  const before = process.resourceUsage().maxRSS;
  const { content, size, truncated } = await read({ max_bytes: 13 });
  const grown = process.resourceUsage().maxRSS - before;
  assert.deepEqual([content, size, truncated], ['first\nsecond\n', 256 * 1024 ** 2, true]);
  assert.ok(grown < 32 * 1024, `${grown} KiB`);
});

test('file_read takes one mebibyte by default and sixty-four at most, and lines from one [S0-30]', () => {
  assert.equal(fileRead.args.parse({ path: 'x' }).max_bytes, 1_048_576);
  assert.ok(fileRead.args.safeParse({ path: 'x', max_bytes: 67_108_864, offset: 1, limit: 1 }).success);
  for (const max_bytes of [0, -1, 1.5, 67_108_865, '10']) {
    assert.ok(!fileRead.args.safeParse({ path: 'x', max_bytes }).success);
  }
  for (const number of [0, -1, 1.5, '1', null]) {
    assert.ok(!fileRead.args.safeParse({ path: 'x', offset: number }).success);
    assert.ok(!fileRead.args.safeParse({ path: 'x', limit: number }).success);
  }
  assert.ok(!fileRead.args.safeParse({ path: 'x', extra: 1 }).success);
  assert.ok(!fileRead.args.safeParse({ path: 'x', encoding: 'utf-7' }).success);
});

test('file_read refuses a path outside by policy, and reads its twin inside [S0-34]', async (t) => {
  const { put, read } = scene(t);
  put('x');
  await assert.rejects(read({ path: '../file' }), { code: 'E_POLICY' });
  assert.equal((await read({ path: './file' })).content, 'x');
});

test('file_read gives the wanted part of a file of gigabytes, without reading all of it', async (t) => {
  const { session, workspace, dispose } = await openScratchRuntime();
  t.after(dispose);
  const [sparse, log, line] = ['sparse.txt', 'log.txt', 'line.txt'].map((name) => join(workspace, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(sparse, `first\nsecond\n${'padding\n'.repeat(100_000)}`);
  truncateSync(sparse, 3 * 1024 ** 3);
  writeFileSync(log, Array.from({ length: 100_000 }, (_, at) => `line ${at + 1}\n`).join(''));
  truncateSync(log, 8 * 1024 ** 3);
  writeFileSync(line, 'x'.repeat(2_000_000));
  truncateSync(line, 3 * 1024 ** 3);
  const read = async (args: object) => {
    const { data, errors, warnings } = await session.call('file_read', args as never);
    assert.deepEqual(errors, []);
    assert.match(warnings[0]?.message ?? '', /^Only a part of the file was read/);
    assert.equal(typeof warnings[0]?.details?.['next'], 'string');
    return fileRead.data.parse(data);
  };
  const page = await read({ path: 'sparse.txt', limit: 2 });
  assert.deepEqual(
    [page.content, page.lines, page.size, page.sha256, page.total_lines, page.truncated],
    ['first\nsecond\n', { start: 1, end: 2 }, 3 * 1024 ** 3, null, undefined, false],
  );
  const middle = await read({ path: 'log.txt', offset: 50_000, limit: 2 });
  assert.equal(middle.content, 'line 50000\nline 50001\n');
  const beginning = await read({ path: 'log.txt', max_bytes: 14 });
  assert.deepEqual([beginning.content, beginning.truncated], ['line 1\nline 2\n', true]);
  const cut = await read({ path: 'line.txt', offset: 1, limit: 1, max_bytes: 10 });
  assert.deepEqual([cut.content, cut.truncated], ['x'.repeat(10), true]);
});

test('the style of the line ends is told, and mixtures are called so [S0-30]', () => {
  const table: Record<string, readonly string[]> = {
    none: ['', 'a'],
    lf: ['\n', 'a\nb'],
    crlf: ['\r\n', 'a\r\nb\r\n'],
    cr: ['\r', 'a\rb'],
    mixed: ['\r\n\n', '\n\r\n', 'a\rb\n', '\r\r\n', '\n\r', 'a\rb\r\nc\n'],
  };
  for (const [style, texts] of Object.entries(table)) {
    for (const text of texts) assert.equal(newlineStyle(text), style, JSON.stringify(text));
  }
});

async function severalFiles(t: TestContext, files: Readonly<Record<string, string | Uint8Array>>, registry?: string) {
  const written = registry === undefined ? {} : { registry: { text: registry, file: 'registry.yaml' } };
  const scratch = await openScratchRuntime(written);
  t.after(() => scratch.dispose());
  for (const [path, content] of Object.entries(files)) writeFileSync(join(scratch.workspace, path), content);
  return {
    ...scratch,
    send: (args: Record<string, unknown>) => scratch.session.call('file_read', args as never),
    async read(args: Record<string, unknown>) {
      const { ok, data, errors } = await scratch.session.call('file_read', args as never);
      assert.ok(ok, JSON.stringify(errors));
      return fileRead.data.parse(data);
    },
  };
}

const contentOf = (one: object | undefined): unknown => (one as { content?: string } | undefined)?.content;

test('file_read reads several files, and one that fails does not fail the rest', async (t) => {
  const { read, send, workspace } = await severalFiles(t, {
    a: 'one\n',
    b: Buffer.from([0, 255, 0]),
    c: 'two\nthree\n',
  });
  mkdirSync(join(workspace, 'dir'));
  symlinkSync('/etc/passwd', join(workspace, 'out'));
  const { files = [], ...sums } = await read({ path: ['a', 'gone', 'b', 'dir', 'out', 'c', 'a'] });
  assert.deepEqual(sums, { content: '', sha256: null, size: 4 + 3 + 10 + 4, truncated: false, encoding: 'utf-8' });
  assert.deepEqual(files.map(contentOf), ['one\n', undefined, 'AP8A', undefined, undefined, 'two\nthree\n', 'one\n']);
  assert.deepEqual(
    files.map((one) => ('error' in one ? [one.error.code, one.error.reason] : one.path)),
    ['a', ['E_FILE_IO', 'ENOENT'], 'b', ['E_FILE_IO', 'EISDIR'], ['E_POLICY', 'EXDEV'], 'c', 'a'],
  );
  const only = await read({ paths: ['c'] });
  assert.deepEqual(only.files?.map(contentOf), ['two\nthree\n']);
  const none = await send({ path: ['gone', 'dir'] });
  assert.deepEqual([none.ok, none.errors[0]?.code], [false, 'E_FILE_IO']);
  assert.match(none.errors[0]?.message ?? '', /^None of 2 files was read: /);
});

test('file_read gives each of several files its share of max_bytes, and what a short one leaves to the others', async (t) => {
  const long = 'x'.repeat(99).concat('\n').repeat(100);
  const { read, session } = await severalFiles(t, { short: 'short\n', long, longer: long.repeat(2) });
  const args = { path: ['long', 'short', 'longer'], max_bytes: 2006 };
  const { files = [], truncated } = await read(args);
  assert.ok(truncated);
  assert.deepEqual(
    files.map((one) => String(contentOf(one)).length),
    [1000, 6, 1000],
  );
  const { text } = session.present({ tool: 'file_read', args }, await session.call('file_read', args));
  assert.match(
    text,
    /^=== long: lines 1 to 10 of more, 10000 bytes, sha256 \S+\n\[max_bytes reached: the rest begins at file_read \{"path":"long","offset":10\}\]\nx/,
  );
  assert.match(text, /\n=== short: 1 line, 6 bytes, sha256 \S+\nshort\n=== longer: lines/);
});

test('the text of several files is cut in shares too, with the call for the rest of each', async (t) => {
  const lines = (name: string, count: number) =>
    Array.from({ length: count }, (_, at) => `${name} ${at + 1}\n`).join('');
  const files = { a: lines('a', 2000), b: lines('b', 3), c: lines('c', 3000) };
  const { session } = await severalFiles(t, files, 'version: 1\nlimits: { max_answer_tokens: 1000 }\n');
  const args = { path: ['a', 'b', 'c', 'gone'] };
  const { text } = session.present({ tool: 'file_read', args }, await session.call('file_read', args));
  assert.ok(Buffer.byteLength(text) <= 4000, String(text.length));
  assert.ok(text.includes('\n=== b: 3 lines, 12 bytes, sha256 '));
  assert.ok(text.includes('\nb 1\nb 2\nb 3\n=== c: 3000 lines'));
  assert.match(text, /\n=== gone: not read: .*gone/);
  for (const name of ['a', 'c'] as const) {
    const shown = [...text.matchAll(new RegExp(`^${name} (\\d+)$`, 'gm'))].map((match) => Number(match[1]));
    const rest = new RegExp(
      `lines 1 to ${shown.length} of \\d+ shown.*Rest: file_read \\{"path":"${name}","offset":${shown.length + 1}\\}`,
    );
    assert.match(text, rest);
  }
});

test('file_read takes lines of each of several files, and refuses a list that a rule forbids in part', async (t) => {
  const rule = "version: 1\narg_constraints: [{ tool: file_read, arg_patterns: ['*.md'] }]\n";
  const { read, send } = await severalFiles(t, { 'a.md': '1\n2\n3\n', 'b.md': '4\n5\n', 'c.txt': 'x\n' }, rule);
  const { files = [] } = await read({ path: ['a.md', 'b.md'], offset: 2, limit: 1 });
  assert.deepEqual(files.map(contentOf), ['2\n', '5\n']);
  const refused = await send({ path: ['a.md', 'c.txt'] });
  assert.deepEqual([refused.ok, refused.errors[0]?.code], [false, 'E_POLICY']);
  for (const path of [[], [''], Array.from({ length: 33 }, () => 'a.md')]) {
    assert.equal((await send({ path })).errors[0]?.code, 'E_VALIDATION_FAIL');
  }
});
