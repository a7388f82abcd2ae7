import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { namesOf, type ScratchIndex, scratchIndex } from '../../test/scratch-index.ts';
import { FolderWatch } from './folder-watch.ts';

describe('a watched index', () => {
  test('sees edits, new files and removals at the next question, without a look at everything [S0-53]', async (t) => {
    const { index, put, directory } = await watched(t, { 'a.ts': 'const a = 1;\n', 'lib/b.ts': 'const b = 1;\n' });
    const began = Date.now();
    put('a.ts', 'const changed = 1;\n');
    assert.deepEqual(await names(index), ['changed', 'b']);
    put('lib/c.ts', 'const added = 1;\n');
    assert.deepEqual(await names(index), ['changed', 'b', 'added']);
    rmSync(path.join(directory, 'lib/b.ts'));
    assert.deepEqual(await names(index), ['changed', 'added']);
    assert.ok(index.lookedAt() >= began);
  });

  test('sees a change by another process', async (t) => {
    const { index, directory } = await watched(t, { 'a.ts': 'const a = 1;\n' });
    execFileSync('sh', ['-c', 'echo "const other = 1;" > b.ts'], { cwd: directory });
    assert.deepEqual(await names(index), ['a', 'other']);
  });

  test('sees files in folders that are made, moved in, moved and replaced', async (t) => {
    const { index, put, directory } = await watched(t, { 'a.ts': 'const a = 1;\n' });
    put('deep/er/b.ts', 'const b = 1;\n');
    assert.deepEqual(await names(index), ['a', 'b']);
    put('deep/er/c.ts', 'const c = 1;\n');
    assert.deepEqual(await names(index), ['a', 'b', 'c']);
    renameSync(path.join(directory, 'deep'), path.join(directory, 'moved'));
    assert.deepEqual(index.files(), ['a.ts', 'deep/er/b.ts', 'deep/er/c.ts']);
    assert.deepEqual(await names(index), ['a', 'b', 'c']);
    assert.deepEqual(index.files(), ['a.ts', 'moved/er/b.ts', 'moved/er/c.ts']);
    put('moved/er/b.ts', 'const after = 1;\n');
    assert.deepEqual(await names(index), ['a', 'after', 'c']);
    rmSync(path.join(directory, 'moved'), { recursive: true });
    put('moved/er/d.ts', 'const d = 1;\n');
    assert.deepEqual(await names(index), ['a', 'd']);
    put('moved/er/e.ts', 'const e = 1;\n');
    assert.deepEqual(await names(index), ['a', 'd', 'e']);
  });

  test('sees a file in a folder that was empty', async (t) => {
    const { index, put, directory } = await watched(t, { 'a.ts': 'const a = 1;\n' }, ['empty/inner']);
    put('empty/inner/b.ts', 'const b = 1;\n');
    assert.deepEqual(await names(index), ['a', 'b']);
    mkdirSync(path.join(directory, 'later'));
    assert.deepEqual(await names(index), ['a', 'b']);
    put('later/c.ts', 'const c = 1;\n');
    assert.deepEqual(await names(index), ['a', 'b', 'c']);
  });

  test('follows ignore files, and watches no folder that they name', async (t) => {
    const { index, put } = await watched(t, { '.gitignore': 'out/\n', 'a.ts': 'const a = 1;\n' }, ['out', '.git']);
    put('out/b.ts', 'const b = 1;\n');
    put('node_modules/x/c.ts', 'const c = 1;\n');
    put('.hidden/d.ts', 'const d = 1;\n');
    assert.deepEqual(await names(index), ['a']);
    put('.gitignore', '');
    assert.deepEqual(await names(index), ['a', 'b']);
    put('out/b.ts', 'const seen = 1;\n');
    assert.deepEqual(await names(index), ['a', 'seen']);
    put('.gitignore', 'out/\n');
    assert.deepEqual(await names(index), ['a']);
  });

  test('takes new files only where something was generated', async (t) => {
    const { index, put } = scratchIndex(t, { 'src/a.ts': 'const a = 1;\n', 'x.ts': 'const x = 1;\n' });
    await index.generate({ paths: ['src/**/*.ts'] });
    await names(index);
    put('src/in/b.ts', 'const b = 1;\n');
    put('src/in/b.py', 'b = 1\n');
    put('c.ts', 'const c = 1;\n');
    assert.deepEqual(await names(index), ['a', 'b']);
  });

  test('agrees with a full look after random changes (deep)', { timeout: 300_000 }, async (t) => {
    const name = fc.constantFrom('a.ts', 'b.ts', 'd', 'd/a.ts', 'd/e', 'd/e/a.ts', 'd/e/b.ts', 'f', 'f/a.ts');
    const step = fc.oneof(
      fc.record({ does: fc.constant('put' as const), name, text: fc.constantFrom('x', 'y', 'z') }),
      fc.record({ does: fc.constant('move' as const), name, to: name }),
      fc.record({ does: fc.constant('remove' as const), name }),
      fc.constant({ does: 'ask' as const }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        await t.test('run', async (inner) => {
          const scratch = await watched(inner, { 'a.ts': 'const a = 1;\n', 'd/e/a.ts': 'const d = 1;\n' });
          for (const one of steps) {
            if (one.does === 'ask') await scratch.index.query({});
            else attempt(() => change(scratch, one));
          }
          const heard = await names(scratch.index);
          const { nodes } = await scratch.index.query({}, { fresh: true });
          assert.deepEqual(heard, namesOf(nodes));
        });
      }),
      { numRuns: 60 },
    );
  });
});

describe('where folders cannot be watched', () => {
  test('the index says so, looks for changes at times, and answers as of the last look', async (t) => {
    const files = { 'a.ts': 'const a = 1;\n', 'b/c.ts': 'const c = 1;\n' };
    const { index, put } = scratchIndex(t, files, { maxWatchedFolders: 1 });
    await index.generate();
    await names(index);
    const { watched: isWatched, unwatched } = index.stats();
    assert.deepEqual([isWatched, unwatched], [false, 'the workspace has more than 1 folders']);
    const written = Date.now();
    put('a.ts', 'const changed = 1;\n');
    const found = await names(index);
    if (index.lookedAt() > written) assert.deepEqual(found, ['changed', 'c']);
    assert.deepEqual(namesOf((await index.query({}, { fresh: true })).nodes), ['changed', 'c']);
  });

  test('a folder outside of the workspace is not entered through a link', async (t) => {
    const outside = mkdtempSync(path.join(tmpdir(), 'outside-'));
    t.after(() => rmSync(outside, { recursive: true }));
    writeFileSync(path.join(outside, 'o.ts'), 'const o = 1;\n');
    const { index, directory } = await watched(t, { 'a.ts': 'const a = 1;\n' });
    symlinkSync(outside, path.join(directory, 'link'));
    assert.deepEqual(await names(index), ['a']);
  });
});

describe('the watch itself', () => {
  test('keeps nothing open once closed, and does not keep the program alive', () => {
    const url = new URL('./folder-watch.ts', import.meta.url).href;
    const script = `
      import { readdirSync, readlinkSync } from 'node:fs';
      import { FolderWatch } from ${JSON.stringify(url)};
      const inotify = () => process.getActiveResourcesInfo().filter((one) => one === 'FSEvent').length;
      const watch = new FolderWatch(process.cwd());
      watch.add(['a', 'b/c']);
      const folders = watch.size;
      const closed = new FolderWatch(process.cwd());
      closed.add(['a']);
      closed.close();
      console.log(folders, closed.size, inotify());
    `;
    const directory = mkdtempSync(path.join(tmpdir(), 'watch-'));
    try {
      for (const name of ['a', 'b/c']) mkdirSync(path.join(directory, name), { recursive: true });
      const out = execFileSync(
        process.execPath,
        [
          '--conditions=tool-runtime-source',
          '--disable-warning=ExperimentalWarning',
          '--input-type=module',
          '-e',
          script,
        ],
        { cwd: directory, encoding: 'utf8' },
      );
      assert.equal(out.trim(), '4 0 0');
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test('reports a flood instead of names once more happened than it keeps', async (t) => {
    const directory = mkdtempSync(path.join(tmpdir(), 'watch-'));
    const watch = new FolderWatch(directory);
    t.after(() => {
      watch.close();
      rmSync(directory, { recursive: true });
    });
    watch.add(['']);
    for (let n = 0; n < 4_100; n++) writeFileSync(path.join(directory, `f${n}`), '');
    await watch.listen();
    assert.equal(watch.take().isFlooded, true);
    writeFileSync(path.join(directory, 'one'), '');
    utimesSync(path.join(directory, 'one'), 0, 0);
    await watch.listen();
    assert.deepEqual(watch.take(), { names: new Set(['one']), isFlooded: false });
  });
});

async function watched(
  t: TestContext,
  files: Readonly<Record<string, string>>,
  folders: readonly string[] = [],
): Promise<ScratchIndex> {
  const scratch = scratchIndex(t, files);
  for (const folder of folders) mkdirSync(path.join(scratch.directory, folder), { recursive: true });
  await scratch.index.generate();
  await scratch.index.query({});
  assert.equal(scratch.index.stats().watched, true);
  return scratch;
}

async function names(index: ScratchIndex['index']): Promise<string[]> {
  return namesOf((await index.query({})).nodes);
}

type Change =
  | { readonly does: 'put'; readonly name: string; readonly text: string }
  | { readonly does: 'move'; readonly name: string; readonly to: string }
  | { readonly does: 'remove'; readonly name: string };

function change({ put, directory }: ScratchIndex, one: Change): void {
  const at = (name: string) => path.join(directory, name);
  if (one.does === 'put') put(one.name, `const ${one.text} = 1;\n`);
  else if (one.does === 'move') renameSync(at(one.name), at(one.to));
  else rmSync(at(one.name), { recursive: true });
}

/** Some changes are not possible: a folder into itself, a name that is not there. */
function attempt(work: () => void): void {
  try {
    work();
  } catch (thrown) {
    if (!(thrown instanceof Error) || !('code' in thrown)) throw thrown;
  }
}
