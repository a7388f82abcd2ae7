import assert from 'node:assert/strict';
import { rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { isToolError, ToolError } from '@tool-runtime/protocol';
import { live, namesOf, scratchIndex } from '../../test/scratch-index.ts';

const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`src/file${at}.ts`, `export function fn${at}() {}\n`]));

describe('generate', () => {
  test('parses the source files of the workspace and says what it did [S0-52]', async (t) => {
    const { index } = scratchIndex(t, {
      'src/a.ts': 'export function one() {}\n',
      'src/b.py': 'def two():\n    pass\n',
      'notes.txt': 'function three() {}\n',
    });
    const report = await index.generate();
    assert.deepEqual(report, { parsed: 2, unchanged: 0, skipped: [], errors: [], files: 2, truncated: false });
    assert.deepEqual(index.files(), ['src/a.ts', 'src/b.py']);
    assert.deepEqual(namesOf((await index.query({})).nodes), ['one', 'two']);
  });

  test('leaves out ignored, hidden and installed files, and links [S0-52]', async (t) => {
    const { index, directory } = scratchIndex(t, {
      '.gitignore': 'dist/\n',
      'a.ts': 'const a = 1;\n',
      'dist/a.ts': 'const b = 1;\n',
      'node_modules/p/a.ts': 'const c = 1;\n',
      '.hidden/a.ts': 'const d = 1;\n',
    });
    symlinkSync('a.ts', path.join(directory, 'link.ts'));
    const report = await index.generate();
    assert.equal(report.parsed, 1);
    assert.deepEqual(index.files(), ['a.ts']);
  });

  test('skips unchanged files when incremental, by stamp and by content [S0-52]', async (t) => {
    const { index, put } = scratchIndex(t, { 'a.ts': 'const a = 1;\n', 'b.ts': 'const b = 1;\n' });
    await index.generate();
    assert.deepEqual(pick(await index.generate()), { parsed: 0, unchanged: 2 });
    put('a.ts', 'const a = 1;\n');
    assert.deepEqual(pick(await index.generate()), { parsed: 0, unchanged: 2 }, 'same content, another time');
    put('a.ts', 'const c = 1;\n');
    assert.deepEqual(pick(await index.generate()), { parsed: 1, unchanged: 1 });
    assert.deepEqual(pick(await index.generate({ incremental: false })), { parsed: 2, unchanged: 0 });
    assert.deepEqual(namesOf((await index.query({})).nodes), ['c', 'b']);
  });

  test('keeps to the paths and the language asked for [S0-52]', async (t) => {
    const { index } = scratchIndex(t, {
      'src/a.ts': 'const a = 1;\n',
      'src/b.py': 'b = 1\n',
      'lib/c.ts': 'const c = 1;\n',
    });
    assert.equal((await index.generate({ paths: ['src/**'] })).files, 2);
    assert.deepEqual(index.files(), ['src/a.ts', 'src/b.py']);
    assert.equal((await index.generate({ language: 'typescript' })).files, 2);
    assert.deepEqual(index.files(), ['lib/c.ts', 'src/a.ts', 'src/b.py']);
    await assert.rejects(index.generate({ language: 'klingon' }), isRefusal(/Unknown language: klingon/));
    await assert.rejects(index.generate({ paths: ['a['] }), isRefusal(/not a valid glob/));
    await assert.rejects(index.generate({ maxFiles: 0 }), isRefusal(/whole number/));
  });

  test('stops at the number of files allowed and says so [S0-52] (deep)', async (t) => {
    const { index } = scratchIndex(t, many(6));
    const report = await index.generate({ maxFiles: 4 });
    assert.deepEqual([report.files, report.parsed, report.truncated], [4, 4, true]);
    assert.equal((await index.generate()).truncated, false);
    assert.equal(index.files().length, 6);
  });

  test('names files it cannot parse with the reason, and remembers the judgement [S0-52]', async (t) => {
    const { index, put } = scratchIndex(t, {
      'a.ts': 'const a = 1;\n',
      'large.ts': `// ${'x'.repeat(4 * 1024 * 1024)}\n`,
      'lib.min.js': 'a()\n',
      'package-lock.json': '{}\n',
    });
    put('binary.ts', Uint8Array.from([65, 0, 66]));
    const expected = [
      { path: 'binary.ts', reason: 'binary' },
      { path: 'large.ts', reason: 'too_large' },
      { path: 'lib.min.js', reason: 'minified' },
    ];
    const skipped = (await index.generate()).skipped.filter((one) => one.path !== 'package-lock.json');
    assert.deepEqual(skipped, expected);
    const again = await index.generate();
    assert.deepEqual(pick(again), { parsed: 0, unchanged: 1 });
    assert.deepEqual(
      again.skipped.filter((one) => one.path !== 'package-lock.json'),
      expected,
    );
    assert.equal(index.fileRow('binary.ts')?.skipped, 'binary');
    put('binary.ts', 'const now = 1;\n');
    assert.equal((await index.generate()).parsed, 1);
  });

  test('reports the first syntax error of each file, parsed or unchanged [S0-52]', async (t) => {
    const { index } = scratchIndex(t, { 'a.ts': 'const ok = 1;\nfunction (\n', 'b.ts': 'const b = 1;\n' });
    const { errors } = await index.generate();
    assert.deepEqual(
      errors.map(({ path: file, line }) => ({ file, line })),
      [{ file: 'a.ts', line: 2 }],
    );
    assert.deepEqual((await index.generate()).errors, errors);
  });

  test('finds scripts without extension by their first line [S0-52]', async (t) => {
    const { index, put } = scratchIndex(t, {
      tool: '#!/usr/bin/env python3\ndef main():\n    pass\n',
      LICENSE: 'Permission is granted\n',
    });
    assert.equal((await index.generate()).files, 1);
    assert.equal(index.fileRow('tool')?.language, 'python');
    assert.deepEqual(namesOf(await index.nodesOfFile('tool')), ['main']);
    put('tool', 'no script any more\n');
    await index.generate();
    assert.deepEqual(index.files(), []);
  });

  test('drops files that are gone [S0-52]', async (t) => {
    const { index, directory } = scratchIndex(t, many(3));
    await index.generate();
    rmSync(path.join(directory, 'src/file1.ts'));
    await index.generate();
    assert.deepEqual(index.files(), ['src/file0.ts', 'src/file2.ts']);
    assert.deepEqual((await index.query({ name_like: 'fn1' })).nodes, []);
  });

  test('tells about progress up to the end [S0-52]', async (t) => {
    const { index } = scratchIndex(t, many(60));
    const seen: [number, number][] = [];
    await index.generate({ onProgress: (done, total) => seen.push([done, total]) });
    assert.deepEqual(seen, [
      [0, 60],
      [25, 60],
      [50, 60],
      [60, 60],
    ]);
  });

  test('ends with the reason of its signal, keeps what is done, and goes on from there [S0-52]', async (t) => {
    const { index } = scratchIndex(t, many(120));
    const controller = new AbortController();
    const reason = new ToolError('E_TIMEOUT', 'Too slow: test');
    const running = index.generate({
      signal: controller.signal,
      onProgress: (done) => done === 25 && controller.abort(reason),
    });
    await assert.rejects(running, reason);
    const done = index.files().length;
    assert.ok(done >= 20 && done < 120, `${done} files`);
    const report = await index.generate({ signal: live() });
    assert.deepEqual([report.parsed + report.unchanged, report.unchanged >= done], [120, true]);
    assert.equal((await index.query({ type: 'fn' })).nodes.length, 120);
  });

  test('does nothing when its signal has fired already [S0-52]', async (t) => {
    const { index } = scratchIndex(t, many(2));
    await assert.rejects(index.generate({ signal: AbortSignal.abort() }), (thrown) => isToolError(thrown));
    assert.deepEqual(index.files(), []);
  });
});

function pick({ parsed, unchanged }: { parsed: number; unchanged: number }) {
  return { parsed, unchanged };
}

function isRefusal(message: RegExp) {
  return (thrown: unknown) =>
    isToolError(thrown) && thrown.code === 'E_VALIDATION_FAIL' && message.test(thrown.message);
}
