import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import type { GitFiles } from '../contracts/git.ts';
import { diffTrees } from './diff-trees.ts';
import { parseRawDiff } from './parse-diff.ts';

const ENVIRONMENT = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };

let folder = '';
let emptyTreeId = '';

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'tool-runtime-trees-'));
  git('init', '--quiet', '--initial-branch=main');
  emptyTreeId = treeOf({});
});
after(() => rmSync(folder, { recursive: true }));

function git(...words: string[]): string {
  return execFileSync('git', words, { cwd: folder, env: ENVIRONMENT, encoding: 'utf8', stdio: 'pipe' });
}

/** A text is a file, a list is a link. */
type Content = string | readonly [target: string];

function treeOf(files: Readonly<Record<string, Content>>): string {
  git('read-tree', '--empty');
  for (const name of Object.keys(files))
    rmSync(join(folder, name.split('/')[0] ?? ''), { recursive: true, force: true });
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    if (typeof content === 'string') writeFileSync(path, content, { mode: name.endsWith('.sh') ? 0o755 : 0o644 });
    else symlinkSync(content[0], path);
    git('update-index', '--add', name);
  }
  return git('write-tree').trim();
}

const files: GitFiles = {
  read: async (name: string) => {
    const path = join(folder, '.git', name);
    return existsSync(path) ? readFileSync(path) : undefined;
  },
} as GitFiles;

function asGitSays(base: string, tree: string) {
  return parseRawDiff(git('diff-tree', '-r', '-M', '-z', '--raw', '--no-abbrev', base, tree));
}

const FIRST = { 'a.txt': 'a\n', 'dir/b.txt': 'b\n', 'dir/deep/c.txt': 'c\n', 'dir.txt': 'd\n', 'other/x': 'x\n' };

test('diffTrees says what git says: files added, changed, removed, made executable, replaced by a link', async () => {
  const first = treeOf(FIRST);
  const { 'a.txt': _gone, ...fewer } = FIRST;
  for (const next of [
    FIRST,
    { ...FIRST, 'dir/deep/c.txt': 'C\n' },
    {
      ...FIRST,
      'dir/new.txt': 'new\n',
      'dir-1': '1\n',
      dir0: '0\n',
      'z/y/x': 'x\n',
      'ü/ä': 'x\n',
      '\u{1f600}': '',
      '\uff01': '',
    },
    fewer,
    { ...FIRST, 'a.txt': ['dir.txt'] as const },
    {},
  ]) {
    const tree = treeOf(next);
    const found = await diffTrees(files, first, tree);
    assert.ok(found !== undefined, JSON.stringify(next));
    assert.deepEqual(found, asGitSays(first, tree));
  }
  const script = treeOf({ ...FIRST, 'run.sh': 'x\n' });
  git('update-index', '--chmod=-x', 'run.sh');
  const plain = git('write-tree').trim();
  assert.deepEqual(await diffTrees(files, script, plain), asGitSays(script, plain));
});

test('diffTrees leaves to git what may be a rename, a submodule, an unusual mode, and what is packed or no tree', async () => {
  const first = treeOf(FIRST);
  const { 'a.txt': moved, ...others } = FIRST;
  assert.equal(await diffTrees(files, first, treeOf({ ...others, 'moved.txt': moved })), undefined);
  assert.equal(await diffTrees(files, first, treeOf({ ...others, 'a.txt/inner': 'a folder now\n' })), undefined);

  const blob = git('hash-object', '-w', 'dir.txt').trim();
  const made = (line: string): string =>
    execFileSync('git', ['mktree', '--missing'], {
      cwd: folder,
      env: ENVIRONMENT,
      encoding: 'utf8',
      input: line,
    }).trim();
  assert.equal(await diffTrees(files, emptyTreeId, made(`160000 commit ${'1'.repeat(40)}\tmodule\n`)), undefined);
  assert.equal(await diffTrees(files, emptyTreeId, made(`100664 blob ${blob}\told\n`)), undefined);
  assert.equal(await diffTrees(files, first, '2'.repeat(40)), undefined);
  assert.equal(await diffTrees(files, first, blob), undefined);

  const changed = treeOf({ ...FIRST, 'dir/b.txt': 'B\n' });
  assert.deepEqual(await diffTrees(files, first, changed), asGitSays(first, changed));
  rmSync(join(folder, '.git/objects', changed.slice(0, 2), changed.slice(2)));
  assert.equal(await diffTrees(files, first, changed), undefined);
});
