import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import type { GitFiles, GitRepository } from '../contracts/git.ts';
import { headCommit, readLooseObject } from './head-commit.ts';

interface Repository {
  readonly folder: string;
  git(...words: string[]): string;
  commit(text: string): void;
  /** What `headCommit` says, and how often it had to ask git. */
  ask(gitFolder?: string): Promise<readonly [Awaited<ReturnType<typeof headCommit>>, number]>;
}

const ENVIRONMENT = {
  ...process.env,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.org',
};

async function withRepository(use: (repository: Repository) => Promise<void>, ...options: string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tool-runtime-head-'));
  const run = (words: readonly string[], input = ''): string =>
    execFileSync('git', words, { cwd: folder, env: ENVIRONMENT, encoding: 'utf8', input, stdio: 'pipe' }).trim();
  try {
    run(['init', '--quiet', '--initial-branch=main', ...options]);
    await use({
      folder,
      git: (...words) => run(words),
      commit(text) {
        writeFileSync(join(folder, 'file'), text);
        run(['add', 'file']);
        run(['commit', '--quiet', '--message', text]);
      },
      async ask(gitFolder = join(folder, '.git')) {
        let asked = 0;
        const git = {
          files: { read: async (name: string) => readIfThere(join(gitFolder, name)) },
          run: async ({ words, stdin }: { words: readonly string[]; stdin?: string }) => {
            asked += 1;
            return { stdout: Buffer.from(run(['--git-dir', gitFolder, ...words], stdin)) };
          },
        } as unknown as GitRepository;
        return [await headCommit(git), asked];
      },
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function readIfThere(path: string): Buffer | undefined {
  return existsSync(path) ? readFileSync(path) : undefined;
}

function expected({ git }: Repository): object {
  const [hash = '', parent = null] = git('log', '--max-count=2', '--first-parent', '--format=%H').split('\n');
  return { hash, tree: git('rev-parse', 'HEAD^{tree}'), parent };
}

describe('the commit HEAD names', () => {
  for (const format of ['sha1', 'sha256']) {
    test(`is read without a process after a commit, in a repository with ${format}`, () =>
      withRepository(async (repository) => {
        for (const text of ['one', 'two']) {
          repository.commit(text);
          assert.deepEqual(await repository.ask(), [expected(repository), 0]);
        }
        repository.git('checkout', '--quiet', '--detach', 'HEAD~1');
        assert.deepEqual(await repository.ask(), [expected(repository), 0]);
      }, `--object-format=${format}`));
  }

  test('has the first parent of a merge', () =>
    withRepository(async (repository) => {
      repository.commit('one');
      repository.git('checkout', '--quiet', '-b', 'side');
      repository.commit('two');
      repository.git('checkout', '--quiet', 'main');
      repository.git('merge', '--quiet', '--no-ff', '-m', 'merged', 'side');
      const [head, asked] = await repository.ask();
      assert.deepEqual([head?.parent, asked], [repository.git('rev-parse', 'HEAD^1'), 0]);
    }));

  test('is asked of git where it is packed, in a linked work tree, and before there is one', () =>
    withRepository(async (repository) => {
      assert.deepEqual(await repository.ask(), [undefined, 1]);
      repository.commit('one');
      repository.git('worktree', 'add', '--quiet', 'linked', '-b', 'other');
      const linked = join(repository.folder, '.git', 'worktrees', 'linked');
      assert.deepEqual(await repository.ask(linked), [expected(repository), 1]);
      repository.git('gc', '--quiet');
      assert.deepEqual(await repository.ask(), [expected(repository), 1]);
    }));

  test('is asked of git where the branch is a folder of branches, or its name leads elsewhere', () =>
    withRepository(async (repository) => {
      repository.commit('one');
      repository.git('branch', 'folder/branch');
      for (const name of ['refs/heads/folder', `refs/heads/${'../'.repeat(20)}etc/hostname`]) {
        writeFileSync(join(repository.folder, '.git', 'HEAD'), `ref: ${name}\n`);
        const [head, asked] = await repository.ask().catch(() => [undefined, 1] as const);
        assert.deepEqual([head, asked], [undefined, 1], name);
      }
    }));

  test('is not taken from a file that holds something else than its name says', () =>
    withRepository(async (repository) => {
      repository.commit('one');
      const hash = repository.git('rev-parse', 'HEAD');
      const object = join(repository.folder, '.git', 'objects', hash.slice(0, 2), hash.slice(2));
      const forged = `commit 10\0tree ${'0'.repeat(40)}\n`;
      for (const bytes of [
        deflateSync(forged),
        Buffer.from('no deflate'),
        deflateSync(Buffer.alloc(64 * 1024 * 1024)),
      ]) {
        rmSync(object);
        writeFileSync(object, bytes);
        await assert.rejects(repository.ask(), /cat-file/, 'git says what is wrong');
      }
    }));
});

/** Of "blob 4\0one\n". */
const HASH = '5626abf0f72e58d7a153368ba57db4c673c0e171';
const NAME = 'objects/56/26abf0f72e58d7a153368ba57db4c673c0e171';

function holding(bytes: Buffer | Error | undefined): GitFiles {
  return {
    async read(name: string) {
      if (bytes instanceof Error) throw bytes;
      return name === NAME ? bytes : undefined;
    },
  } as unknown as GitFiles;
}

test('an object in a file of its own is read with its type', async () => {
  const found = await readLooseObject(holding(deflateSync('blob 4\0one\n')), HASH, 100);
  assert.deepEqual([found?.type, found?.bytes.toString()], ['blob', 'one\n']);
});

test('a file under the name of another content is not that object [S0-51]', async () => {
  assert.equal(await readLooseObject(holding(deflateSync('blob 4\0two\n')), HASH, 100), undefined);
});

test('what is not there, too large, no object or not readable is left to git', async () => {
  const cases = [undefined, deflateSync('one\n'), Buffer.from('no zlib'), new Error('EACCES')];
  for (const bytes of cases) assert.equal(await readLooseObject(holding(bytes), HASH, 100), undefined);
  assert.equal(await readLooseObject(holding(deflateSync(`blob 900\0${'x'.repeat(900)}`)), HASH, 100), undefined);
});
