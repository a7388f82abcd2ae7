import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { RuntimeOptions } from '../../runtime.ts';
import { openScratchRuntime } from '../../testing/scratch-runtime.ts';
import { fsTree } from './fs-tree.ts';

async function scene(t: TestContext, paths: readonly string[], options: Partial<RuntimeOptions> = {}) {
  const scratch = await openScratchRuntime(options);
  t.after(() => scratch.dispose());
  for (const path of paths) {
    mkdirSync(dirname(join(scratch.workspace, path)), { recursive: true });
    writeFileSync(join(scratch.workspace, path), '');
  }
  const tree = async (args: Record<string, unknown> = {}) => {
    const { ok, data, errors } = await scratch.session.call('fs_tree', args as never);
    assert.ok(ok, JSON.stringify(errors));
    return fsTree.data.parse(data);
  };
  const text = async (args: Record<string, unknown> = {}) =>
    scratch.session.present(
      { tool: 'fs_tree', args: args as never },
      await scratch.session.call('fs_tree', args as never),
    ).text;
  return { ...scratch, tree, text, names: async (args = {}) => (await tree(args)).entries.map(({ path }) => path) };
}

const SOURCES = ['a.md', 'src/b/c/d.ts', 'src/b/e.ts', 'src/f.ts', 'test/g.ts'];

test('fs_tree answers a sorted tree with the files and folders below each folder', async (t) => {
  const { tree } = await scene(t, SOURCES);
  assert.deepEqual(await tree(), {
    path: '.',
    depth: 4,
    files: 5,
    folders: 4,
    partial: false,
    entries: [
      { path: 'a.md' },
      { path: 'src/', files: 3, folders: 2 },
      { path: 'src/b/', files: 2, folders: 1 },
      { path: 'src/b/c/', files: 1, folders: 0 },
      { path: 'src/b/c/d.ts' },
      { path: 'src/b/e.ts' },
      { path: 'src/f.ts' },
      { path: 'test/', files: 1, folders: 0 },
      { path: 'test/g.ts' },
    ],
    next: null,
  });
  const inner = await tree({ path: './src/', depth: 1 });
  assert.deepEqual([inner.path, inner.files, inner.folders, inner.depth], ['src/', 3, 2, 1]);
  assert.deepEqual(inner.entries, [{ path: 'src/b/', files: 2, folders: 1 }, { path: 'src/f.ts' }]);
});

test('fs_tree reads as a tree, and a further page names the folders it continues in', async (t) => {
  const { text, workspace } = await scene(t, SOURCES);
  assert.equal(
    await text({ depth: 2 }),
    [
      '.: 5 files, 4 folders; 2 levels shown',
      'a.md',
      'src/ 3 files, 2 folders',
      '  b/ 2 files, 1 folder',
      '  f.ts',
      'test/ 1 file',
      '  g.ts',
    ].join('\n'),
  );
  assert.equal(
    await text({ depth: 4, max_entries: 2, after: 'src/b/c/' }),
    [
      '.: 5 files, 4 folders; 4 levels shown',
      '[max_entries reached: the rest is fs_tree {"path":".","depth":4,"after":"src/b/e.ts","max_entries":2}]',
      'src/ …',
      '  b/ …',
      '    c/ …',
      '      d.ts',
      '    e.ts',
    ].join('\n'),
  );
  mkdirSync(join(workspace, 'void'));
  assert.match(
    await text({ path: 'void' }),
    /^void\/: 0 files, 0 folders; 1 level shown, except for what include_hidden/,
  );
});

test('fs_tree goes as deep as fits, and its first level is shown in pages when even that does not', async (t) => {
  const many = Array.from({ length: 30 }, (_, at) => `src/deep/${at}.ts`);
  const { tree, names } = await scene(t, [...many, 'src/x/y.ts', 'top.ts']);
  const first = await tree({ max_entries: 10 });
  assert.deepEqual([first.depth, first.files, first.next], [2, 32, null]);
  assert.deepEqual(
    first.entries.map(({ path, files }) => [path, files]),
    [
      ['src/', 31],
      ['src/deep/', 30],
      ['src/x/', 1],
      ['top.ts', undefined],
    ],
  );
  assert.deepEqual(await names({ path: 'src/deep', max_entries: 2 }), ['src/deep/0.ts', 'src/deep/1.ts']);
  assert.equal((await tree({ path: 'src/deep', max_entries: 2 })).next, 'src/deep/1.ts');
});

test('the pages of fs_tree together are the tree, whatever their size', async (t) => {
  const { tree, names } = await scene(t, [...SOURCES, 'src-x/a', 'src.ts', 'src/b.ts', 'src/b-b/z', 'é/ü', 'Z']);
  const whole = await names({ depth: 100 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 7 }), async (max_entries) => {
      const pages: string[] = [];
      let next: string | null = null;
      do {
        const page = await tree({ depth: 100, max_entries, ...(next === null ? {} : { after: next }) });
        assert.ok(page.entries.length <= max_entries);
        pages.push(...page.entries.map(({ path }) => path));
        ({ next } = page);
      } while (next !== null);
      assert.deepEqual(pages, whole);
    }),
    { numRuns: 7 },
  );
});

test('fs_tree shows hidden and ignored names on demand, and never .git', async (t) => {
  const { names, workspace } = await scene(t, ['.env', 'node_modules/x.js', 'a.log', 'a', '.git/HEAD']);
  writeFileSync(join(workspace, '.gitignore'), '*.log\n');
  assert.deepEqual(await names(), ['a']);
  assert.deepEqual(await names({ include_hidden: true }), ['.env', '.gitignore', 'a']);
  assert.deepEqual(await names({ include_ignored: true }), ['a', 'a.log', 'node_modules/', 'node_modules/x.js']);
});

test('fs_tree takes a folder whose name looks like a glob', async (t) => {
  const { names } = await scene(t, ['odd[1]{a,b}*/x', 'odd1a/y', '!no/z']);
  assert.deepEqual(await names({ path: 'odd[1]{a,b}*' }), ['odd[1]{a,b}*/x']);
  assert.deepEqual(await names({ path: '!no' }), ['!no/z']);
});

test('fs_tree refuses what is no folder, leaves the workspace or leads through a link', async (t) => {
  const { session, workspace, names } = await scene(t, ['dir/sub/a']);
  symlinkSync('dir', join(workspace, 'link'));
  symlinkSync('/etc', join(workspace, 'out'));
  const cases: [string, string, string | undefined][] = [
    ['nothing', 'E_FILE_IO', 'ENOENT'],
    ['dir/sub/a', 'E_FILE_IO', 'ENOTDIR'],
    ['link', 'E_FILE_IO', 'ENOTDIR'],
    ['link/sub', 'E_FILE_IO', 'ENOTDIR'],
    ['out', 'E_FILE_IO', 'ENOTDIR'],
    ['../x', 'E_POLICY', undefined],
    ['/etc', 'E_POLICY', undefined],
  ];
  for (const [path, code, reason] of cases) {
    const { ok, errors } = await session.call('fs_tree', { path });
    assert.deepEqual([ok, errors[0]?.code], [false, code], path);
    if (reason !== undefined) assert.equal(errors[0]?.details?.['reason'], reason, path);
  }
  assert.deepEqual(await names({ path: 'dir' }), ['dir/sub/', 'dir/sub/a']);
});

test('fs_tree shows only folders that a rule about paths covers whole', async (t) => {
  const text = "version: 1\narg_constraints: [{ tool: fs_tree, arg_patterns: ['docs/**', 'docs'] }]\n";
  const { session, names } = await scene(t, ['docs/a/b', 'secret/c'], { registry: { file: 'r.yaml', text } });
  for (const args of [{}, { path: '.' }, { path: 'secret' }]) {
    const { ok, errors } = await session.call('fs_tree', args);
    assert.deepEqual([ok, errors[0]?.code], [false, 'E_POLICY'], JSON.stringify(args));
  }
  assert.deepEqual(await names({ path: 'docs' }), ['docs/a/', 'docs/a/b']);
});
