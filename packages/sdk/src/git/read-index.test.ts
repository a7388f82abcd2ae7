import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { readIndex } from './read-index.ts';

function repository(t: TestContext, ...options: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'read-index-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const git = (...words: string[]): string =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...words], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  git('init', '-q', '-b', 'main', ...options);
  return {
    git,
    write: (name: string, text: string) => writeFileSync(join(folder, name), text),
    facts: (hashBytes = 20) => {
      const {
        entries: _,
        cachedTree: __,
        ...facts
      } = readIndex(readFileSync(join(folder, '.git', 'index')), hashBytes) ?? {};
      return 'isPlain' in facts ? facts : undefined;
    },
  };
}

const PLAIN = { hasUnmerged: false, isPlain: true };

describe('an index file', () => {
  test('of added and committed files is plain, whatever the length of their names', (t) => {
    const { git, write, facts } = repository(t);
    for (let length = 1; length < 20; length++) write('x'.repeat(length), 'text\n');
    write('y'.repeat(250), 'text\n');
    git('add', '.');
    assert.deepEqual(facts(), PLAIN);
    git('commit', '-q', '-m', 'a');
    git('status');
    assert.deepEqual(facts(), PLAIN);
  });

  test('of a repository with SHA-256 is read with its longer hashes', (t) => {
    const { git, write, facts } = repository(t, '--object-format=sha256');
    write('a', 'text\n');
    git('add', '.');
    assert.deepEqual(facts(32), PLAIN);
    assert.equal(facts(20), undefined);
  });

  test('shows a conflict', (t) => {
    const { git, write, facts } = repository(t);
    write('a', 'base\n');
    git('add', '.');
    git('commit', '-q', '-m', 'base');
    git('checkout', '-q', '-b', 'other');
    write('a', 'other\n');
    git('commit', '-q', '-a', '-m', 'other');
    git('checkout', '-q', 'main');
    write('a', 'main\n');
    git('commit', '-q', '-a', '-m', 'main');
    assert.throws(() => git('merge', 'other'));
    assert.deepEqual(facts(), { hasUnmerged: true, isPlain: false });
    write('a', 'both\n');
    git('add', 'a');
    // How the conflict was resolved is kept in an extension, which a tree does not have.
    assert.deepEqual(facts(), { hasUnmerged: false, isPlain: false });
  });

  test('with marks that a tree cannot hold is not plain', (t) => {
    const { git, write, facts } = repository(t);
    write('a', 'text\n');
    write('b', 'text\n');
    git('add', 'a');
    git('add', '--intent-to-add', 'b');
    assert.deepEqual(facts(), { hasUnmerged: false, isPlain: false });
    git('add', 'b');
    assert.deepEqual(facts(), PLAIN);
    git('update-index', '--assume-unchanged', 'a');
    assert.deepEqual(facts(), { hasUnmerged: false, isPlain: false });
    git('update-index', '--no-assume-unchanged', 'a');
    assert.deepEqual(facts(), PLAIN);
    git('update-index', '--skip-worktree', 'a');
    assert.deepEqual(facts(), { hasUnmerged: false, isPlain: false });
  });

  test('that is written otherwise, split or cut is left to git', (t) => {
    const { git, write, facts } = repository(t);
    write('a', 'text\n');
    git('add', '.');
    git('update-index', '--index-version=4');
    assert.equal(facts(), undefined);
    git('update-index', '--index-version=2');
    git('update-index', '--split-index');
    assert.equal(facts(), undefined);
    git('update-index', '--no-split-index');
    assert.deepEqual(facts(), PLAIN);
    assert.equal(readIndex(Buffer.alloc(0), 20), undefined);
    assert.equal(readIndex(Buffer.from('DIRC\0\0\0\x02\0\0\0\x09'.padEnd(80, '\0')), 20), undefined);
  });
});
