import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  createRepository,
  type GitRuntime,
  openGitRuntime,
  openRepository,
  withRepository,
} from '../../../test/git-repository.ts';

interface Change {
  path: string;
  status: string;
  staged: boolean;
  unstaged: boolean;
  from?: string;
  submodule?: true;
}

interface Status {
  branch: string | null;
  head: string | null;
  detached: boolean;
  upstream: string | null;
  ahead: number | null;
  behind: number | null;
  changes: Change[];
  clean: boolean;
  in_progress: string | null;
  stashes: number;
  truncated: boolean;
}

const status = (runtime: GitRuntime, args: object = {}) => runtime.call<Status>('git_status', args);

/** Path → letters. */
const letters = ({ changes }: Status) => Object.fromEntries(changes.map(({ path, status: code }) => [path, code]));

describe('git_status', () => {
  test('an empty repository has a branch, no head and nothing to say [S0-42]', async () => {
    await withRepository({}, async (repository, runtime) => {
      const empty = await status(runtime);
      assert.deepEqual(
        [empty.branch, empty.head, empty.detached, empty.clean, empty.upstream],
        ['main', null, false, true, null],
      );
      repository.write({ new: 'x' });
      assert.deepEqual(letters(await status(runtime)), { new: '??' });
      assert.deepEqual(letters(await status(runtime, { untracked: false })), {});
    });
  });

  test('tells staged from unstaged changes, in letters and in words [S0-42] (deep)', async () => {
    const files = { both: '1', changed: '1', gone: '1', staged: '1', same: '1', kind: '1' };
    await withRepository({ files }, async (repository, runtime) => {
      repository.write({ both: '2', staged: '2', added: 'a', kind: { link: 'same' } });
      repository.git('add', 'both', 'staged', 'added', 'kind');
      repository.write({ both: '3', changed: '2', gone: null, loose: 'x' });
      const found = await status(runtime);
      assert.deepEqual(letters(found), {
        added: 'A',
        both: 'MM',
        changed: 'M',
        gone: 'D',
        kind: 'T',
        loose: '??',
        staged: 'M',
      });
      const flags = Object.fromEntries(found.changes.map((change) => [change.path, [change.staged, change.unstaged]]));
      assert.deepEqual(flags, {
        added: [true, false],
        both: [true, true],
        changed: [false, true],
        gone: [false, true],
        kind: [true, false],
        loose: [false, true],
        staged: [true, false],
      });
      assert.equal(found.clean, false);
      assert.deepEqual(letters(await status(runtime, { porcelain: false })), {
        added: 'added',
        both: 'modified',
        changed: 'modified',
        gone: 'deleted',
        kind: 'type changed',
        loose: 'untracked',
        staged: 'modified',
      });
    });
  });

  test('names renamed files and files whose names hold anything but NUL and slash [S0-42]', async () => {
    const odd = [
      'with space',
      'quo"te',
      "it's",
      'tab\there',
      'new\nline',
      'ünïcödé',
      '-dash',
      ':(glob)x',
      ' lead',
      '日本',
    ];
    const files = Object.fromEntries(odd.map((name) => [name, `content of ${name}\n`]));
    await withRepository(
      { files: { ...files, old: 'a long enough text\nto be found again\n' } },
      async (repository, runtime) => {
        repository.git('mv', 'old', 'new name');
        repository.write(Object.fromEntries(odd.map((name) => [name, 'changed'])));
        const { changes } = await status(runtime);
        const renamed = changes.find(({ path }) => path === 'new name');
        assert.deepEqual(renamed, { path: 'new name', status: 'R', staged: true, unstaged: false, from: 'old' });
        assert.deepEqual(
          changes
            .filter(({ from }) => from === undefined)
            .map(({ path }) => path)
            .sort(),
          [...odd].sort(),
        );
      },
    );
  });

  test('a name that is no UTF-8 is reported with replacement characters [S0-42]', async () => {
    await withRepository({ files: { plain: '1' } }, async (repository, runtime) => {
      writeFileSync(Buffer.concat([Buffer.from(`${repository.folder}/`), Buffer.from([0x66, 0xff, 0x66])]), 'x');
      assert.deepEqual(letters(await status(runtime)), { 'f\ufffdf': '??' });
    });
  });

  test('counts commits ahead of and behind the upstream whatever status.aheadBehind says [S0-42] (deep)', async () => {
    await withRepository({ files: { file: '1' } }, async (repository, runtime) => {
      repository.git('branch', 'other');
      repository.commit({ file: '2' });
      repository.commit({ file: '3' });
      repository.git('branch', '--set-upstream-to=other');
      repository.git('switch', '--quiet', 'other');
      repository.commit({ theirs: '1' });
      repository.git('switch', '--quiet', 'main');
      repository.git('config', 'status.aheadBehind', 'false');
      const { upstream, ahead, behind } = await status(runtime);
      assert.deepEqual([upstream, ahead, behind], ['other', 2, 1]);
      repository.git('branch', '--delete', '--force', 'other');
      const orphan = await status(runtime);
      assert.deepEqual([orphan.upstream, orphan.ahead, orphan.behind], ['other', null, null]);
    });
  });

  test('a detached HEAD has a hash and no branch [S0-42]', async () => {
    await withRepository({ files: { file: '1' } }, async (repository, runtime) => {
      repository.git('switch', '--quiet', '--detach');
      const { branch, head, detached } = await status(runtime);
      assert.deepEqual([branch, head, detached], [null, repository.git('rev-parse', 'HEAD').trim(), true]);
    });
  });

  test('says what is under way, which files are unmerged and how many stashes there are [S0-42] (deep)', async () => {
    await withRepository({ files: { file: '1\n' } }, async (repository, runtime) => {
      repository.write({ file: 'stash me\n' });
      repository.git('stash');
      repository.git('switch', '--quiet', '--create', 'other');
      repository.commit({ file: 'other\n' });
      repository.git('switch', '--quiet', 'main');
      repository.commit({ file: 'main\n' });
      const calm = await status(runtime);
      assert.deepEqual([calm.in_progress, calm.stashes], [null, 1]);
      for (const [words, state] of [
        [['merge', 'other'], 'merge'],
        [['rebase', 'other'], 'rebase'],
        [['cherry-pick', 'other'], 'cherry_pick'],
        [['revert', '--no-edit', 'HEAD~1'], 'revert'],
      ] as const) {
        assert.notEqual(repository.gitCode(...words), 0, `${words.join(' ')} has a conflict`);
        const found = await status(runtime);
        assert.equal(found.in_progress, state);
        assert.equal(found.changes.find(({ path }) => path === 'file')?.unstaged, true);
        repository.git(state.replace('_', '-'), '--abort');
      }
      assert.equal((await status(runtime)).in_progress, null);
    });
  });

  test('reports a submodule whose commit changed and looks no further into it [S0-42] (deep)', async () => {
    await withRepository({ files: { file: '1' } }, async (repository, runtime) => {
      const inner = join(repository.beside, 'inner');
      mkdirSync(inner);
      const other = openRepository(inner, repository.beside);
      other.git('init', '--quiet', '--initial-branch=main');
      other.git('config', 'user.name', 'x');
      other.git('config', 'user.email', 'x@example.org');
      other.commit({ inside: '1' });
      repository.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'sub');
      repository.commit({});
      writeFileSync(repository.path('sub/inside'), 'dirty');
      assert.equal((await status(runtime)).clean, true);
      repository.git(
        '-C',
        'sub',
        '-c',
        'user.name=x',
        '-c',
        'user.email=x@example.org',
        'commit',
        '--quiet',
        '-am',
        'in',
      );
      const { changes } = await status(runtime);
      assert.deepEqual(changes, [{ path: 'sub', status: 'M', staged: false, unstaged: true, submodule: true }]);
    });
  });

  test('works in sha256 repositories, linked work trees, shallow clones and sparse checkouts [S0-42] (deep)', async () => {
    const repository = createRepository({ files: { 'in/a': '1', 'out/b': '1' }, objectFormat: 'sha256' });
    try {
      repository.commit({ 'in/a': '2' });
      repository.git('worktree', 'add', '--quiet', '-b', 'linked', '../linked');
      repository.git('clone', '--quiet', '--depth=1', '--no-local', repository.folder, '../shallow');
      repository.git('sparse-checkout', 'set', 'in');
      for (const [name, branch] of [
        ['work', 'main'],
        ['linked', 'linked'],
        ['shallow', 'main'],
      ] as const) {
        const folder = join(repository.beside, name);
        const runtime = await openGitRuntime({ folder });
        try {
          const found = await status(runtime);
          assert.deepEqual([found.branch, found.clean, found.head?.length], [branch, true, 64], name);
          writeFileSync(join(folder, 'in/a'), 'changed');
          assert.deepEqual(letters(await status(runtime)), { 'in/a': 'M' }, name);
        } finally {
          await runtime.dispose();
        }
      }
    } finally {
      repository.dispose();
    }
  });

  test('writes nothing, not even a fresher index [S0-42]', async () => {
    await withRepository({ files: { file: '1' } }, async (repository, runtime) => {
      const digest = () => repository.git('hash-object', '.git/index');
      rmSync(repository.path('file'));
      writeFileSync(repository.path('file'), '1');
      const before = digest();
      assert.equal((await status(runtime)).clean, true);
      assert.equal(digest(), before);
    });
  });

  test('cuts very long lists and says so [S0-42] (deep)', async () => {
    await withRepository({ files: { file: '1' } }, async (repository, runtime) => {
      mkdirSync(repository.path('many'));
      for (let number = 0; number < 10_001; number++) writeFileSync(repository.path(`many/${number}`), '');
      const many = await status(runtime);
      assert.deepEqual([many.changes.length, many.truncated], [10_000, true]);
      rmSync(repository.path('many/0'));
      const fewer = await status(runtime);
      assert.deepEqual([fewer.changes.length, fewer.truncated], [10_000, false]);
    });
  });

  test('a workspace without a repository, or with a borrowed one, is refused with the way out [S0-51] (deep)', async () => {
    await withRepository({ files: { file: '1' } }, async (repository, runtime) => {
      renameSync(repository.path('.git'), join(repository.beside, 'hidden'));
      const none = await runtime.refused('git_status');
      assert.deepEqual([none.code, none.details?.['reason']], ['E_GIT', 'no_repository']);
      writeFileSync(repository.path('.git'), `gitdir: ${join(repository.beside, 'hidden')}\n`);
      const planted = await runtime.refused('git_status');
      assert.deepEqual([planted.code, planted.details?.['reason']], ['E_GIT', 'foreign_git_folder']);
      rmSync(repository.path('.git'));
      renameSync(join(repository.beside, 'hidden'), repository.path('.git'));
      assert.equal((await status(runtime)).clean, true);
    });
  });
});
