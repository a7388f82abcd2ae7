import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  createRepository,
  type GitRuntime,
  hostileWords,
  openGitRuntime,
  withRepository,
} from '../../../test/git-repository.ts';
import { gitBlame } from './git-blame.ts';

interface Group {
  commit: string | null;
  author: string | null;
  date: string | null;
  summary: string | null;
  from_line: number;
  lines: number;
  path: string;
  original_line: number;
  previous?: { commit: string; path: string };
  boundary?: true;
}

const tools = [gitBlame];
const blame = async (runtime: GitRuntime, args: object) =>
  (await runtime.call<{ groups: Group[] }>('git_blame', args)).groups;
const runs = (groups: readonly Group[]) => groups.map(({ from_line, lines, summary }) => [from_line, lines, summary]);

describe('git_blame', () => {
  test('git_blame names the commit of every line, at a revision or in the work tree [S0-43] (deep)', async () => {
    await withRepository({ files: { file: 'a\nb\nc\nd\n' }, tools }, async (repository, runtime) => {
      const first = repository.git('rev-parse', 'HEAD').trim();
      const second = repository.commit({ file: 'a\nB\nc\nd\n' }, 'feat: B');
      const groups = await blame(runtime, { path: 'file' });
      assert.deepEqual(runs(groups), [
        [1, 1, 'chore: begin'],
        [2, 1, 'feat: B'],
        [3, 2, 'chore: begin'],
      ]);
      assert.deepEqual([groups[1]?.commit, groups[1]?.previous], [second, { commit: first, path: 'file' }]);
      assert.deepEqual([groups[0]?.author, groups[0]?.date], ['Ada Tester', '2023-11-14T22:14:20+00:00']);
      assert.deepEqual([groups[0]?.boundary, groups[1]?.boundary], [true, undefined]);
      assert.deepEqual(runs(await blame(runtime, { path: 'file', rev: 'HEAD~1' })), [[1, 4, 'chore: begin']]);
      repository.write({ file: 'a\nB\nc\nd\nnot yet\n' });
      const loose = (await blame(runtime, { path: 'file', rev: null })).at(-1);
      assert.deepEqual([loose?.commit, loose?.author, loose?.from_line, loose?.lines], [null, null, 5, 1]);
    });
  });

  test('git_blame follows renames and reads odd names and zones [S0-43]', async () => {
    await withRepository({ tools }, async (repository, runtime) => {
      repository.write({ 'old "n"\tä': 'one line of text\nanother line\n' });
      repository.git('add', '.');
      repository.git('commit', '--quiet', '-m', 'first', '--date=2024-02-29T23:30:00-0530');
      repository.git('mv', 'old "n"\tä', ':new\nname');
      repository.commit({}, 'move');
      const [group] = await blame(runtime, { path: ':new\nname' });
      assert.deepEqual([group?.path, group?.date, group?.lines], ['old "n"\tä', '2024-02-29T23:30:00-05:30', 2]);
    });
  });

  test('git_blame looks at some lines only [S0-43]', async () => {
    const text = Array.from({ length: 10 }, (_, index) => `${index}\n`).join('');
    await withRepository({ files: { file: text }, tools }, async (_, runtime) => {
      for (const [args, wanted] of [
        [{ start_line: 3 }, [3, 8]],
        [{ end_line: 4 }, [1, 4]],
        [{ start_line: 5, end_line: 5 }, [5, 1]],
      ] as const) {
        const [group] = await blame(runtime, { path: 'file', ...args });
        assert.deepEqual([group?.from_line, group?.lines], wanted);
      }
      assert.equal(
        (await runtime.refused('git_blame', { path: 'file', start_line: 5, end_line: 4 })).details?.['reason'],
        'bad_range',
      );
      assert.equal((await runtime.refused('git_blame', { path: 'file', start_line: 11 })).code, 'E_GIT');
    });
  });

  test('git_blame marks where a shallow history ends [S0-43]', async () => {
    const repository = createRepository({ files: { file: 'a\n' } });
    repository.commit({ file: 'a\nb\n' });
    repository.git('clone', '--quiet', '--depth=1', '--no-local', repository.folder, '../shallow');
    const runtime = await openGitRuntime({ folder: join(repository.beside, 'shallow') }, { tools });
    try {
      assert.deepEqual(
        (await blame(runtime, { path: 'file' })).map(({ boundary }) => boundary),
        [true],
      );
    } finally {
      await runtime.dispose();
      repository.dispose();
    }
  });

  test('git_blame refuses files that are not there, paths outside and words for options [S0-43] (deep)', async () => {
    await withRepository({ tools }, async (repository, runtime) => {
      repository.write({ file: '1\n', x: '1\n' });
      assert.equal((await runtime.refused('git_blame', { path: 'file' })).code, 'E_GIT', 'no commit yet');
      repository.commit({});
      for (const path of ['nosuch', 'dir', '.']) {
        assert.equal((await runtime.refused('git_blame', { path })).code, 'E_GIT', path);
      }
      for (const path of ['../x', '/etc/passwd']) {
        assert.equal((await runtime.refused('git_blame', { path })).code, 'E_POLICY', path);
      }
      const canary = join(repository.folder, 'canary');
      for (const word of hostileWords(canary)) {
        assert.equal((await runtime.ask('git_blame', { path: 'file', rev: word })).ok, false, JSON.stringify(word));
        assert.equal((await runtime.ask('git_blame', { path: word })).ok, false, JSON.stringify(word));
        assert.equal(existsSync(canary), false);
      }
      assert.equal((await blame(runtime, { path: 'file', rev: 'main' })).length, 1);
    });
  });
});
