import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import {
  type FileSet,
  type GitRuntime,
  hostileWords,
  type TestRepository,
  withRepository,
} from '../../../test/git-repository.ts';
import { gitConflicts } from './git-conflicts.ts';

interface Side {
  mode: string;
  blob: string;
  size: number;
  text?: string;
}

interface Conflicts {
  in_progress: string | null;
  files: {
    path: string;
    kind: string;
    base: Side | null;
    ours: Side | null;
    theirs: Side | null;
    hunks: { start_line: number; end_line: number; ours: string; base: string | null; theirs: string }[];
    hunks_truncated?: true;
    binary: boolean;
  }[];
  total_files: number;
}

const tools = [gitConflicts];
const conflicts = (runtime: GitRuntime, args: object = {}) => runtime.call<Conflicts>('git_conflicts', args);

/** Leaves a merge of two branches in progress that cannot be finished. */
function collide(repository: TestRepository, ours: FileSet, theirs: FileSet): void {
  repository.git('switch', '--quiet', '--create', 'other');
  repository.commit(theirs);
  repository.git('switch', '--quiet', 'main');
  repository.commit(ours);
  assert.notEqual(repository.gitCode('merge', 'other'), 0);
}

describe('git_conflicts', () => {
  test('git_conflicts answers all sides and the marked places of every unmerged file [S0-47] (deep)', async () => {
    const files = { file: 'top\nmiddle\nend\n', gone: 'g\n', left: 'l\n', fine: '1' };
    await withRepository({ files, tools }, async (repository, runtime) => {
      assert.deepEqual(await conflicts(runtime), { in_progress: null, files: [], total_files: 0, truncated: false });
      collide(
        repository,
        { file: 'top\nours\nend\n', gone: null, left: 'changed\n', 'both "new"': 'a\n', fine: '2' },
        { file: 'top\ntheirs\nend\n', gone: 'kept\n', left: null, 'both "new"': 'b\n' },
      );
      const found = await conflicts(runtime);
      assert.deepEqual([found.in_progress, found.total_files], ['merge', 4]);
      assert.deepEqual(
        found.files.map(({ path, kind }) => [path, kind]),
        [
          ['both "new"', 'both_added'],
          ['file', 'both_modified'],
          ['gone', 'deleted_by_us'],
          ['left', 'deleted_by_them'],
        ],
      );
      const [added, both, gone, left] = found.files;
      assert.deepEqual(
        [both?.base?.text, both?.ours?.text, both?.theirs?.text],
        ['top\nmiddle\nend\n', 'top\nours\nend\n', 'top\ntheirs\nend\n'],
      );
      assert.deepEqual(both?.hunks, [{ start_line: 2, end_line: 6, ours: 'ours\n', base: null, theirs: 'theirs\n' }]);
      assert.deepEqual([both?.ours?.mode, both?.ours?.blob], ['100644', repository.git('rev-parse', ':2:file').trim()]);
      assert.deepEqual([added?.base, gone?.ours, left?.theirs], [null, null, null]);
      assert.deepEqual(gone?.hunks, []);
      repository.write({ file: 'top\nboth\nend\n' });
      assert.deepEqual((await conflicts(runtime, { paths: ['file'] })).files[0]?.hunks, [], 'resolved, not staged');
      repository.git('add', '.');
      assert.deepEqual(await conflicts(runtime), { in_progress: 'merge', files: [], total_files: 0, truncated: false });
    });
  });

  test('git_conflicts shows the base where the repository writes it, and longer markers [S0-47]', async () => {
    const files = { file: 'base\n', '.gitattributes': 'wide conflict-marker-size=12\n', wide: '=======\nbase\n' };
    await withRepository({ files, tools }, async (repository, runtime) => {
      repository.git('config', 'merge.conflictStyle', 'diff3');
      collide(
        repository,
        { file: 'ours\r\n', wide: '=======\nours\n' },
        { file: 'theirs\n', wide: '=======\ntheirs\n' },
      );
      const hunks = Object.fromEntries((await conflicts(runtime)).files.map((file) => [file.path, file.hunks]));
      assert.deepEqual(hunks['file'], [
        { start_line: 1, end_line: 7, ours: 'ours\r\n', base: 'base\n', theirs: 'theirs\n' },
      ]);
      assert.deepEqual(hunks['wide'], [
        { start_line: 2, end_line: 8, ours: 'ours\n', base: 'base\n', theirs: 'theirs\n' },
      ]);
    });
  });

  test('git_conflicts says what is under way [S0-47] (deep)', async () => {
    await withRepository({ files: { file: '1\n' }, tools }, async (repository, runtime) => {
      collide(repository, { file: 'ours\n' }, { file: 'theirs\n' });
      repository.git('merge', '--abort');
      for (const [words, state] of [
        [['rebase', 'other'], 'rebase'],
        [['cherry-pick', 'other'], 'cherry_pick'],
        [['revert', '--no-edit', 'main~1', 'main'], 'revert'],
      ] as const) {
        repository.gitCode(...words);
        assert.equal((await conflicts(runtime)).in_progress, state, words.join(' '));
        repository.gitCode(state.replace('_', '-'), '--abort');
      }
    });
  });

  test('git_conflicts leaves out texts that are binary or too long and keeps the rest [S0-47]', async () => {
    await withRepository(
      { files: { data: 'a\0', long: 'x', link: { link: 'a' }, short: '1\n' }, tools },
      async (repository, runtime) => {
        const long = 'y'.repeat(100_000);
        collide(
          repository,
          { data: 'b\0', long: `${long}1`, link: { link: 'b' }, short: '2\n' },
          { data: 'c\0', long: `${long}2`, link: { link: 'c' }, short: '3\n' },
        );
        const found = Object.fromEntries((await conflicts(runtime)).files.map((file) => [file.path, file]));
        assert.deepEqual(
          [found['data']?.binary, found['data']?.ours?.text, found['data']?.ours?.size],
          [true, undefined, 2],
        );
        assert.deepEqual(
          [found['long']?.binary, found['long']?.ours?.text, found['long']?.base?.text],
          [false, undefined, 'x'],
        );
        assert.deepEqual([found['long']?.ours?.size, found['long']?.hunks.length], [100_001, 1]);
        assert.deepEqual([found['link']?.theirs?.mode, found['link']?.theirs?.text], ['120000', 'c']);
        assert.equal(
          (await conflicts(runtime, { max_bytes: 0 })).files.every(({ ours }) => ours?.text === undefined),
          true,
        );
        writeFileSync(repository.path('short'), '<<<<<<< a\n1\n=======\n2\n>>>>>>> b\n'.repeat(201));
        const many = (await conflicts(runtime, { paths: ['short'] })).files[0];
        assert.deepEqual([many?.hunks.length, many?.hunks_truncated], [200, true]);
      },
    );
  });

  test('git_conflicts keeps paths inside the workspace and takes none for magic [S0-47] (deep)', async () => {
    await withRepository({ files: { file: '1\n', x: '1\n' }, tools }, async (repository, runtime) => {
      collide(repository, { file: 'ours\n', x: 'ours\n' }, { file: 'theirs\n', x: 'theirs\n' });
      for (const word of hostileWords('canary')) {
        const response = await runtime.ask('git_conflicts', { paths: [word] });
        if (response.ok) assert.deepEqual((response.data as unknown as Conflicts).files, [], JSON.stringify(word));
      }
      assert.equal((await runtime.refused('git_conflicts', { paths: ['../file'] })).code, 'E_POLICY');
      assert.deepEqual(
        (await conflicts(runtime, { paths: ['f*'] })).files.map(({ path }) => path),
        ['file'],
      );
    });
  });
});
