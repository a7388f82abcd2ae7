import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { GitFiles } from '../contracts/git.ts';
import { hasEntries } from './index-entries.ts';
import { writeIndexTree } from './index-tree.ts';
import { readIndex } from './read-index.ts';

const ENVIRONMENT = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };

function repository(t: TestContext, format = 'sha1') {
  const folder = mkdtempSync(join(tmpdir(), 'index-tree-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const git = (...words: string[]): string =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...words], {
      cwd: folder,
      env: ENVIRONMENT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  git('init', '-q', '-b', 'main', `--object-format=${format}`);
  const written: string[] = [];
  const files = {
    read: async (name: string) => {
      const path = join(folder, '.git', name);
      return existsSync(path) ? readFileSync(path) : undefined;
    },
    write: async (name: string, bytes: Uint8Array) => {
      const path = join(folder, '.git', name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, bytes, { flag: 'wx' });
      written.push(name);
    },
  } as unknown as GitFiles;
  const index = (): Buffer => readFileSync(join(folder, '.git', 'index'));
  return {
    git,
    written,
    index,
    write(name: string, text: string): void {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text, { mode: name.endsWith('.sh') ? 0o755 : 0o644 });
    },
    link: (name: string, target: string) => symlinkSync(target, join(folder, name)),
    own: (bytes = index()) => writeIndexTree(files, bytes, format === 'sha1' ? 20 : 32),
  };
}

const NAMES = ['a', 'a-b', 'a.b', 'dir/a', 'dir-x', 'dir.x', 'dir/deep/er/a', 'dir/deep/b', 'ü', 'run.sh', ' x', '"q"'];

describe('the tree of an index', () => {
  for (const format of ['sha1', 'sha256']) {
    test(`is the one git writes, whatever is noted in the index, in a repository with ${format}`, async (t) => {
      const { git, write, link, own } = repository(t, format);
      for (const name of NAMES) write(name, `${name}\n`);
      write(`${'long'.repeat(60)}/${'name'.repeat(60)}/${'x'.repeat(4)}`, 'long\n');
      link('link', 'a');
      const stages: (readonly string[])[] = [
        ['add', '.'],
        ['commit', '-q', '-m', 'all'],
        ['rm', '-q', '--cached', 'dir/deep/er/a'],
        ['rm', '-q', '--cached', 'dir/deep/b'],
        ['read-tree', 'HEAD'],
        ['rm', '-q', '-r', '--cached', '.'],
      ];
      for (const words of stages) {
        git(...words);
        // Ours first: git notes trees in the index when it writes them.
        const tree = await own();
        assert.equal(tree, git('write-tree'), words.join(' '));
        assert.equal(git('cat-file', '-t', tree ?? ''), 'tree');
        assert.equal(await own(), tree, 'with all trees noted');
      }
      git('fsck', '--strict');
    });
  }

  test('takes only folders in which something was staged, and writes no other', async (t) => {
    const { git, write, own, written } = repository(t);
    for (const name of NAMES) write(name, '1\n');
    git('add', '.');
    git('commit', '-q', '-m', 'one');
    write('dir/deep/b', '2\n');
    git('add', 'dir/deep/b');
    const tree = await own();
    assert.equal(written.length, 3, 'dir/deep, dir and the topmost');
    assert.equal(tree, git('write-tree'));
  });

  test('is left to git where the index holds more than a tree', async (t) => {
    const { git, write, own } = repository(t);
    write('a', '1\n');
    write('b', '1\n');
    git('add', 'a');
    git('add', '--intent-to-add', 'b');
    assert.equal(await own(), undefined);
    git('add', 'b');
    assert.notEqual(await own(), undefined);
    git('update-index', '--index-version=4');
    assert.equal(await own(), undefined);
  });

  test('does not follow a note that contradicts the entries', async (t) => {
    const { git, write, own, index } = repository(t);
    for (const name of ['d/a', 'd/b', 'e/a']) write(name, `${name}\n`);
    git('add', '.');
    git('commit', '-q', '-m', 'one');
    write('z', '1\n');
    git('add', 'z');
    const noted = index().toString('latin1');
    const right = git('write-tree');
    for (const wrong of ['d\x001 0\n', 'd\x003 0\n', 'd\x009 0\n']) {
      assert.ok(noted.includes('d\x002 0\n'));
      const bytes = Buffer.from(noted.replace('d\x002 0\n', wrong), 'latin1');
      assert.equal(await own(bytes), right, JSON.stringify(wrong));
    }
  });

  test('is not made of names git refuses', async (t) => {
    const { git, write, own, index } = repository(t);
    for (const name of ['d/xgit', 'd/xx']) write(name, '1\n');
    git('add', '.');
    for (const [name, forbidden] of [
      ['d/xgit', 'd/.git'],
      ['d/xgit', 'd/.GIT'],
      ['d/xx', 'd/..'],
      ['d/xx', 'd//x'],
    ] as const) {
      const bytes = Buffer.from(index().toString('latin1').replace(name, forbidden), 'latin1');
      assert.equal(await own(bytes), undefined, forbidden);
    }
  });
});

test('entries of an index are found by their paths, and no others', (t) => {
  const { git, write, index } = repository(t);
  for (const name of NAMES) write(name, `${name}\n`);
  git('add', '.');
  const facts = readIndex(index(), 20);
  assert.ok(facts !== undefined);
  const raw = NAMES.map((name) => Buffer.from(name).toString('latin1'));
  assert.equal(hasEntries(facts, 20, new Set(raw)), true);
  assert.equal(hasEntries(facts, 20, new Set(['dir/a', 'run.sh'])), true);
  for (const other of ['nowhere', 'dir', 'dir/', 'run.s']) {
    assert.equal(hasEntries(facts, 20, new Set(['dir/a', other])), false, other);
  }
});
