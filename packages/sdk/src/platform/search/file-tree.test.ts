import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { ToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import type { ListQuery } from '../../contracts/search.ts';
import { compileGlobs } from '../../glob/match-glob.ts';
import { createDirectoryReader, type DirectoryReader } from '../descriptors/directory-reader.ts';
import { openRoot, type RootBackend } from '../descriptors/root.ts';
import { listTree } from './file-tree.ts';

/** A program of every system, not of a package. */
const MAKE_FIFO = 'mkfifo';

const EVERYTHING: ListQuery = { globs: [], includeHidden: false, includeIgnored: false, maxResults: 100_000 };

function put(directory: string, paths: readonly string[]): void {
  for (const path of paths) {
    mkdirSync(join(directory, path.slice(0, path.lastIndexOf('/') + 1)), { recursive: true });
    if (!path.endsWith('/')) writeFileSync(join(directory, path), '');
  }
}

function scene(t: TestContext, paths: readonly string[], backend: RootBackend | 'auto' = 'auto') {
  const directory = mkdtempSync(join(tmpdir(), 'list-tree-'));
  put(directory, paths);
  const root = openRoot(directory, { backend });
  t.after(() => {
    root.close();
    rmSync(directory, { recursive: true });
  });
  const reader = createDirectoryReader(root.native);
  return {
    directory,
    reader,
    list: async (query: Partial<ListQuery> = {}, readDirectory: DirectoryReader = reader) =>
      listTree({ root, readDirectory }, { ...EVERYTHING, ...query }),
  };
}

for (const backend of ['openat2', 'walk'] as const) {
  describe(`listTree on ${backend}`, () => {
    test('gives sorted workspace-relative paths with forward slashes [S0-26]', async (t) => {
      const paths = [
        'a/b',
        'a.b',
        'a-b/c',
        'a/c/d',
        'ab',
        'a',
        'é',
        'Z',
        '\u{1f600}',
        '\uffee',
        'n\nl',
        'x'.repeat(255),
      ];
      const { list } = scene(t, paths.slice(0, 5).concat(paths.slice(6)), backend);
      const { paths: listed, truncated } = await list();
      assert.deepEqual(listed, paths.filter((path) => path !== 'a').sort());
      assert.equal(truncated, false);
    });

    test('lists links without following them, and neither pipes nor sockets [S0-26]', async (t) => {
      const { directory, list } = scene(t, ['inside/file', 'file'], backend);
      symlinkSync('/etc', join(directory, 'outward'));
      symlinkSync('inside', join(directory, 'inward'));
      symlinkSync('nowhere', join(directory, 'dangling'));
      execFileSync(MAKE_FIFO, [join(directory, 'pipe')]);
      const server = createServer().listen(join(directory, 'socket'));
      t.after(() => server.close());
      assert.deepEqual((await list()).paths, ['dangling', 'file', 'inside/file', 'inward', 'outward']);
      assert.deepEqual((await list({ globs: ['outward/**', 'inward/*'] })).paths, ['outward']);
    });

    test('leaves out names that are no UTF-8, and keeps the replacement character [S0-26]', async (t) => {
      const { directory, list } = scene(t, ['\ufffd', 'plain'], backend);
      writeFileSync(Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0x62, 0xff])]), '');
      mkdirSync(Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0xc3, 0x28])]));
      assert.deepEqual((await list()).paths, ['plain', '\ufffd']);
    });
  });
}

test('shows hidden names on demand, and never git data [S0-26]', async (t) => {
  const { list } = scene(t, [
    '.env',
    '.github/ci.yml',
    '.git/config',
    'sub/.git/HEAD',
    'sub/file',
    'file',
    '.gitignored',
  ]);
  assert.deepEqual((await list()).paths, ['file', 'sub/file']);
  assert.deepEqual((await list({ globs: ['.github/*'] })).paths, []);
  const all = ['.env', '.github/ci.yml', '.gitignored', 'file', 'sub/file'];
  assert.deepEqual((await list({ includeHidden: true })).paths, all);
  assert.deepEqual((await list({ includeHidden: true, includeIgnored: true })).paths, all);
});

test('leaves out ignored files and installed packages unless asked [S0-26]', async (t) => {
  const { directory, list } = scene(t, [
    'src/a.ts',
    'dist/a.js',
    'node_modules/p/i.js',
    'sub/__pycache__/x',
    'vendor/v',
  ]);
  writeFileSync(join(directory, '.gitignore'), 'dist/\n');
  assert.deepEqual((await list()).paths, ['src/a.ts', 'vendor/v']);
  assert.deepEqual((await list({ globs: ['node_modules/**', 'dist/*'] })).paths, []);
  assert.deepEqual((await list({ includeIgnored: true })).paths, [
    ...['dist/a.js', 'node_modules/p/i.js', 'src/a.ts', 'sub/__pycache__/x', 'vendor/v'],
  ]);
});

test('ends the rules of ignore files at the border of a repository inside [S0-26]', async (t) => {
  const { directory, list } = scene(t, ['a.log', 'inner/.git/HEAD', 'inner/a.log', 'inner/b.tmp', 'plain/a.log']);
  writeFileSync(join(directory, '.gitignore'), '*.log\n');
  writeFileSync(join(directory, 'inner/.gitignore'), '*.tmp\n');
  assert.deepEqual((await list()).paths, ['inner/a.log']);
});

test('does not read an ignore file through a link [S0-26]', async (t) => {
  const { directory, list } = scene(t, ['a', 'b', 'rules']);
  writeFileSync(join(directory, 'rules'), 'a\n');
  symlinkSync('rules', join(directory, '.gitignore'));
  assert.deepEqual((await list()).paths, ['a', 'b', 'rules']);
});

test('goes down as many levels as asked and lists folders with a slash [S0-26]', async (t) => {
  const { list } = scene(t, ['a/b/c/d', 'a/x', 'top', 'empty/']);
  assert.deepEqual((await list({ depth: 1 })).paths, ['top']);
  assert.deepEqual((await list({ depth: 2 })).paths, ['a/x', 'top']);
  assert.deepEqual((await list({ depth: 2, includeDirectories: true })).paths, ['a/', 'a/b/', 'a/x', 'empty/', 'top']);
  assert.deepEqual((await list({ globs: ['*'], includeDirectories: true })).paths, ['a/', 'empty/', 'top']);
});

test('gives the first paths in order and says when there are more [S0-26]', async (t) => {
  const { list, reader } = scene(t, ['a/1', 'a/2', 'b/1', 'c/1']);
  let folders = 0;
  const counting: DirectoryReader = (fd) => {
    folders += 1;
    return reader(fd);
  };
  assert.deepEqual(await list({ maxResults: 2 }, counting), { paths: ['a/1', 'a/2'], truncated: true });
  assert.equal(folders, 3, 'the walk ends with the first path too many');
  assert.deepEqual(await list({ maxResults: 4 }), { paths: ['a/1', 'a/2', 'b/1', 'c/1'], truncated: false });
});

test('lists for any globs what matching every path would leave, in order [S0-26] (deep)', async (t) => {
  const name = fc.constantFrom('a', 'b', 'ab', 'a.b', 'a-', 'b.ts', 'é');
  const folders = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
  const globs = fc.array(
    fc.array(fc.constantFrom('*', '**', 'a', '?', '*.ts', '[ab]', '{a,b}*', 'a*b'), { minLength: 1, maxLength: 3 }),
    { minLength: 1, maxLength: 3 },
  );
  let round = 0;
  const { directory, list } = scene(t, []);
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(folders, { minLength: 3, maxLength: 12 }), globs, async (paths, parts) => {
      round += 1;
      const files = paths.map((path) => `${round}/${path}/file`);
      put(directory, [...files, ...paths.map((path) => `${round}/${path}/f.ts`)]);
      const patterns = parts.map((one) => `${round}/${one.join('/')}`);
      const all = (await list({ globs: [`${round}/**`], includeDirectories: true })).paths;
      const accepts = compileGlobs(patterns);
      const { paths: listed } = await list({ globs: patterns, includeDirectories: true });
      assert.deepEqual(
        listed,
        all.filter((path) => accepts(path.replace(/\/$/, ''))),
      );
      assert.deepEqual(listed, [...listed].sort());
    }),
    { numRuns: 60 },
  );
});

test('skips a folder that vanishes under it or becomes a link [S0-26]', async (t) => {
  const { directory, list, reader } = scene(t, ['a', 'gone/x', 'swapped/x', 'z']);
  let reads = 0;
  const treacherous: DirectoryReader = (fd) => {
    const entries = reader(fd);
    reads += 1;
    if (reads === 1) {
      rmSync(join(directory, 'gone'), { recursive: true });
      rmSync(join(directory, 'swapped'), { recursive: true });
      symlinkSync('/etc', join(directory, 'swapped'));
    }
    return entries;
  };
  assert.deepEqual((await list({}, treacherous)).paths, ['a', 'z']);
  assert.equal(reads, 1);
});

test('gives way to others while it walks, and ends when its signal fires [S0-26]', async (t) => {
  const { list, reader } = scene(
    t,
    Array.from({ length: 40 }, (_, at) => `folder-${at}/file`),
  );
  const slow: DirectoryReader = (fd) => {
    for (const start = performance.now(); performance.now() - start < 2; );
    return reader(fd);
  };
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  assert.equal((await list({}, slow)).paths.length, 40);
  clearInterval(timer);
  assert.notEqual(turns, 0);
  const controller = new AbortController();
  const reason = new ToolError('E_TIMEOUT', 'Too slow: test');
  setImmediate(() => controller.abort(reason));
  await assert.rejects(list({ signal: controller.signal }, slow), reason);
  await assert.rejects(list({ signal: controller.signal }), reason);
});
