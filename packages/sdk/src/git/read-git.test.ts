import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createRepository, type TestRepository } from '../../test/git-repository.ts';
import type { GitRepository } from '../contracts/git.ts';
import { branchSubject, commitContent, HEAD_SUBJECT, INDEX_SUBJECT, readGit, stagedFiles } from './read-git.ts';

/** The real git, without what the runtime puts around it. */
function gitOf({ folder, gitBytes }: TestRepository): Pick<GitRepository, 'run' | 'files'> {
  return {
    run: async ({ words, stdin }) => ({ code: 0, stdout: gitBytes(words, stdin), stderr: '' }),
    files: {
      async read(name: string) {
        const path = join(folder, '.git', name);
        return existsSync(path) ? readFileSync(path) : undefined;
      },
    } as GitRepository['files'],
  };
}

async function withRepository(
  use: (repository: TestRepository, git: ReturnType<typeof gitOf>) => Promise<void>,
): Promise<void> {
  const repository = createRepository({ files: { 'a.txt': 'one\n' } });
  try {
    await use(repository, gitOf(repository));
  } finally {
    repository.dispose();
  }
}

describe('readGit', () => {
  test('a commit is known in advance by parent, staged files and message, and by nothing less', () =>
    withRepository(async (repository, git) => {
      const parent = repository.git('rev-parse', 'HEAD').trim();
      repository.write({ 'a.txt': 'two\n', 'd/ü b.txt': { text: 'run\n', mode: 0o755 }, link: { link: 'a.txt' } });
      repository.git('add', '.');
      const files = (await stagedFiles(git)) ?? '';
      const message = 'feat: subject  \n\n\n\nbody\n';
      repository.gitBytes(['commit', '--quiet', '--signoff', '--file=-'], message);
      const head = await readGit(git, HEAD_SUBJECT);
      assert.equal(head?.content, commitContent(parent, files, message));
      assert.equal(head?.found?.['commit'], repository.git('rev-parse', 'HEAD').trim());
      for (const other of [
        commitContent(null, files, message),
        commitContent(parent, `${files}0`, message),
        commitContent(parent, files, 'feat: other'),
      ]) {
        assert.notEqual(head?.content, other);
      }
    }));

  test('what was changed and put back reads as before in content, but not exactly', () =>
    withRepository(async (repository, git) => {
      repository.git('branch', 'topic');
      const read = async () => [await readGit(git, HEAD_SUBJECT), await readGit(git, branchSubject('topic'))];
      const before = await read();
      assert.deepEqual(await read(), before);
      repository.commit({ 'a.txt': 'two\n' });
      repository.git('reset', '--quiet', '--hard', 'HEAD~1');
      repository.git('branch', '--force', 'topic', repository.commit({ 'a.txt': 'three\n' }));
      repository.git('reset', '--quiet', '--hard', 'HEAD~1');
      repository.git('branch', '--force', 'topic', 'HEAD');
      for (const [at, now] of (await read()).entries()) {
        assert.equal(now?.content, before[at]?.content);
        assert.notEqual(now?.exact, before[at]?.exact);
      }
    }));

  test('the index by its bytes; unmerged files have no digest; unknown subjects cannot be read', () =>
    withRepository(async (repository, git) => {
      const before = await readGit(git, INDEX_SUBJECT);
      assert.deepEqual(await readGit(git, INDEX_SUBJECT), before);
      repository.write({ 'b.txt': 'new\n' });
      repository.git('add', 'b.txt');
      assert.notEqual((await readGit(git, INDEX_SUBJECT))?.exact, before?.exact);
      repository.git('switch', '--quiet', '-c', 'side');
      repository.commit({ 'a.txt': 'side\n' });
      repository.git('switch', '--quiet', 'main');
      repository.commit({ 'a.txt': 'main\n' });
      assert.equal(repository.gitCode('merge', 'side'), 1);
      assert.equal(await stagedFiles(git), undefined);
      assert.equal(await readGit(git, 'git:config'), undefined);
      assert.equal((await readGit(git, branchSubject('missing')))?.content, 'missing');
    }));
});
