/**
 * Unfinished operations, begun by plain git and then tampered with: every file git leaves, in every way that could make it
 * start a program, follow a link or touch another branch. What git writes itself is sound.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { isStateFile, judgeState, MAX_STATE_FILE } from '../src/git/judge-state.ts';
import { readState } from '../src/platform/git/git-state.ts';
import { createCanaryScene } from './git-canary.ts';
import { createRepository, openGitRuntime, type TestRepository } from './git-repository.ts';

/** main and side disagree about a.txt twice; side holds a merge. */
function disagree(): TestRepository {
  const repository = createRepository({ files: { 'a.txt': 'one\n' } });
  repository.git('switch', '--quiet', '-c', 'side');
  repository.commit({ 'a.txt': 'side\n' }, 'feat: side');
  repository.commit({ 'a.txt': 'side again\n' }, 'fixup! feat: side');
  repository.git('switch', '--quiet', '-c', 'twig', 'main');
  repository.commit({ 't.txt': 'twig\n' }, 'feat: twig');
  repository.git('switch', '--quiet', 'side');
  repository.git('merge', '--quiet', '--no-edit', 'twig');
  repository.git('switch', '--quiet', 'main');
  repository.commit({ 'a.txt': 'main\n' }, 'feat: main');
  return repository;
}

const OPERATIONS: Readonly<Record<string, (repository: TestRepository) => void>> = {
  rebase: ({ git, gitCode }) => {
    git('config', 'sequence.editor', 'true');
    gitCode('rebase', '--interactive', '--autosquash', '--rerere-autoupdate', 'main', 'side');
    git('config', '--unset', 'sequence.editor');
  },
  'rebase by merging': ({ gitCode }) =>
    void gitCode('rebase', '--rebase-merges', '-Xpatience', '-sort', '--signoff', 'main', 'side'),
  'rebase with changes put aside': ({ gitCode, git, write }) => {
    git('switch', '--quiet', 'side');
    write({ 't.txt': 'changed\n' });
    gitCode('rebase', '--autostash', 'main');
  },
  'rebase by patches': ({ gitCode }) => void gitCode('rebase', '--apply', '--whitespace=nowarn', 'main', 'side'),
  'cherry-pick': ({ gitCode }) => void gitCode('cherry-pick', '-x', '-Xpatience', 'side~2', 'side~1'),
  revert: ({ gitCode }) => void gitCode('revert', '--no-edit', 'HEAD~1', 'HEAD'),
  merge: ({ gitCode }) => void gitCode('merge', '--no-ff', 'side'),
  'merge with recorded conflicts': ({ git, gitCode }) => {
    git('config', 'rerere.enabled', 'true');
    gitCode('merge', 'side');
  },
  am: ({ git, gitCode, path }) => {
    git('format-patch', '--quiet', '--output-directory', path('../patches'), '-1', 'side~2');
    gitCode('am', '--3way', path('../patches/0001-feat-side.patch'));
  },
  bisect: ({ git }) => void git('bisect', 'start', 'side', 'side~2'),
};

function stateNames(gitDir: string): readonly string[] {
  return readState(gitDir)
    .filter(({ name, type }) => type === 'file' && (name.includes('/') || isStateFile(name)))
    .map(({ name }) => name);
}

/** Free text for people or of patches: git never takes an instruction from these. */
const FREE =
  /^(?:MERGE_MSG|SQUASH_MSG|BISECT_(?:LOG|NAMES|RUN|START)|rebase-merge\/(?:message.*|patch)|rebase-apply\/(?:\d+|patch|patch-merge-index|info|msg|msg-clean|final-commit))$/;

const LARGE = 'larger than any';
const KINDS: Readonly<Record<string, (path: string) => void>> = {
  'a link to the same content': (path) => {
    writeFileSync(`${path}.real`, readFileSync(path));
    rmSync(path);
    symlinkSync(`${path}.real`, path);
  },
  'a folder': (path) => {
    rmSync(path);
    mkdirSync(path);
  },
  'a named pipe': (path) => {
    rmSync(path);
    execFileSync('mkfifo', [path]);
  },
  [LARGE]: (path) => truncateSync(path, MAX_STATE_FILE + 1),
};

const CONTENTS: readonly string[] = [
  'exec touch canary\n',
  'pick HEAD\nx touch canary\n',
  'evil\n',
  'ours\n',
  '--ours\n',
  " '--exec=touch canary'\n",
  '[options]\n\tstrategy = evil\n',
  '[options]\n\tgpg-sign = x\n',
  '[include]\n\tpath = /etc/passwd\n',
  '-S\n',
  'refs/heads/main\n',
  'refs/heads/../../x\n',
  'ref: refs/heads/main\n',
  "GIT_AUTHOR_NAME='$(touch canary)'\nGIT_SSH='x'\n",
  Buffer.from([0, 1, 2, 255, 254, 10, 0]).toString('latin1'),
];

function verdict(gitDir: string): string {
  try {
    judgeState(readState(gitDir), { aborting: false });
    return 'sound';
  } catch (thrown) {
    assert.ok(isToolError(thrown), String(thrown));
    assert.equal(thrown.code, 'E_POLICY');
    assert.match(String(thrown.details['next']), /git_(?:abort|recover)/);
    return String(thrown.details['file']);
  }
}

describe('what git leaves while an operation is unfinished', () => {
  for (const [operation, begin] of Object.entries(OPERATIONS)) {
    test(`${operation}: sound as git writes it, refused by name after any tampering`, (t) => {
      const repository = disagree();
      t.after(() => repository.dispose());
      begin(repository);
      const gitDir = repository.path('.git');
      const names = stateNames(gitDir);
      assert.ok(names.length > (operation === 'merge' ? 3 : 4), `git left state: ${names.join(' ')}`);
      assert.equal(verdict(gitDir), 'sound');
      for (const name of names) {
        const path = join(gitDir, name);
        const before = readFileSync(path);
        for (const [kind, tamper] of Object.entries(KINDS)) {
          if (kind === LARGE && name !== names[0]) continue;
          tamper(path);
          assert.equal(verdict(gitDir).replace(/\.real$/, ''), `.git/${name}`, `${name} as ${kind}`);
          for (const left of [path, `${path}.real`]) rmSync(left, { recursive: true, force: true });
          writeFileSync(path, before);
        }
        for (const content of FREE.test(name) ? [] : CONTENTS) {
          if (content === before.toString('latin1') || isFitting(name, content)) continue;
          writeFileSync(path, content, 'latin1');
          assert.equal(verdict(gitDir), `.git/${name}`, `${name}: ${JSON.stringify(content)}`);
        }
        writeFileSync(path, before);
      }
      for (const folder of new Set(names.flatMap((name) => (name.includes('/') ? name.split('/')[0] : [])))) {
        writeFileSync(join(gitDir, folder ?? '', 'unknown'), '');
        assert.equal(verdict(gitDir), `.git/${folder}/unknown`);
        rmSync(join(gitDir, folder ?? '', 'unknown'));
      }
      assert.equal(verdict(gitDir), 'sound');
    });
  }

  /** What is tampering elsewhere is what belongs here. */
  function isFitting(name: string, content: string): boolean {
    if (/\/head-name$/.test(name)) return content === 'refs/heads/main\n';
    if (
      /^BISECT_TERMS$|\/(?:quiet|verbose|sign|keep|utf8|threeway|messageid|scissors|quoted-cr|applying|rebasing|interactive|signoff|drop_redundant_commits|no-reschedule-failed-exec)$|^BISECT_ANCESTORS_OK$/.test(
        name,
      )
    )
      return /^[\w-]*\n$/.test(content);
    return false;
  }
});

describe('git tools in an unfinished operation', () => {
  test('a plan that runs a program: plain git runs it, git_continue refuses, git_abort is the way out', async () => {
    const scene = createCanaryScene({ hooks: false });
    const runtime = await openGitRuntime(scene);
    try {
      const todo = scene.path('.git/rebase-merge/git-rebase-todo');
      const begin = () => {
        scene.gitCode('rebase', 'main', 'side');
        scene.write({ 'a.txt': 'both\n' });
        scene.git('add', 'a.txt');
        writeFileSync(todo, `exec ${scene.program} todo\n`);
        scene.seen();
      };
      begin();
      scene.gitCode('rebase', '--continue');
      assert.match(scene.seen(), /todo/, 'control: plain git runs the program');
      scene.gitCode('rebase', '--abort');
      begin();
      const error = await runtime.refused('git_continue');
      assert.deepEqual([error.code, error.details?.['reason']], ['E_POLICY', 'rebase_exec']);
      assert.equal(error.details?.['file'], '.git/rebase-merge/git-rebase-todo');
      await runtime.call('git_abort');
      assert.equal(scene.seen(), '');
      assert.equal(existsSync(scene.path('.git/rebase-merge')), false);
    } finally {
      await runtime.dispose();
      scene.dispose();
    }
  });

  test('a strategy that is a program: plain git runs it, git_continue refuses and goes on once it is gone', async () => {
    const scene = createCanaryScene({ hooks: false });
    const runtime = await openGitRuntime(scene);
    try {
      scene.git('switch', '--quiet', 'side');
      scene.commit({ 'd.txt': 'd\n' }, 'feat: second');
      scene.git('switch', '--quiet', 'main');
      const strategy = scene.path('.git/rebase-merge/strategy');
      const begin = () => {
        scene.gitCode('rebase', '--force-rebase', 'main', 'side');
        scene.write({ 'a.txt': 'both\n' });
        scene.git('add', 'a.txt');
        writeFileSync(strategy, 'evil\n');
        scene.seen();
      };
      begin();
      const words = ['-c', `alias.merge-evil=!${scene.program} strategy`, 'rebase', '--continue'];
      spawnSync('git', words, { cwd: scene.folder, env: { ...process.env, GIT_EDITOR: 'true' } });
      assert.match(scene.seen(), /strategy/, 'control: plain git runs the program');
      scene.gitCode('rebase', '--abort');
      begin();
      assert.equal((await runtime.refused('git_continue')).details?.['file'], '.git/rebase-merge/strategy');
      writeFileSync(strategy, 'ours\n');
      assert.equal((await runtime.refused('git_continue')).details?.['file'], '.git/rebase-merge/strategy');
      rmSync(strategy);
      await runtime.call('git_continue');
      assert.equal(scene.git('show', 'side:d.txt'), 'd\n');
      assert.equal(scene.seen(), '');
    } finally {
      await runtime.dispose();
      scene.dispose();
    }
  });

  test('what giving up would act on is checked for git_abort too; git_recover is the way out then', async () => {
    const scene = createCanaryScene({ hooks: false });
    const runtime = await openGitRuntime(scene);
    try {
      const { recovery } = await runtime.call<{ recovery: string }>('git_merge', { branch: 'side' });
      const file = scene.path('.git/MERGE_MSG');
      rmSync(file);
      scene.write({ 'private.txt': 'private\n' });
      symlinkSync('../private.txt', file);
      for (const tool of ['git_continue', 'git_abort']) {
        scene.git('add', 'a.txt');
        const error = await runtime.refused(tool);
        assert.deepEqual([tool, error.code, error.path], [tool, 'E_POLICY', '.git/MERGE_MSG']);
      }
      assert.equal(readFileSync(scene.path('private.txt'), 'utf8'), 'private\n');
      await runtime.call('git_recover', { recovery });
      assert.equal(existsSync(scene.path('.git/MERGE_HEAD')), false);
      assert.equal(readFileSync(scene.path('private.txt'), 'utf8'), 'private\n');
      await runtime.call('git_merge', { branch: 'other' });
    } finally {
      await runtime.dispose();
      scene.dispose();
    }
  });

  test('a list of references to delete holds labels only: no branch goes with the rebase', async () => {
    const scene = createCanaryScene({ hooks: false });
    const runtime = await openGitRuntime(scene);
    try {
      const list = scene.path('.git/rebase-merge/refs-to-delete');
      scene.gitCode('rebase', 'main', 'side');
      writeFileSync(list, 'refs/heads/other\n');
      for (const tool of ['git_abort', 'git_add']) {
        const error = await runtime.refused(tool, tool === 'git_add' ? { paths: ['a.txt'] } : {});
        assert.equal(error.details?.['file'], '.git/rebase-merge/refs-to-delete');
      }
      assert.equal(scene.gitCode('rev-parse', '--quiet', '--verify', 'refs/heads/other'), 0);
      writeFileSync(list, 'refs/rewritten/onto\n');
      await runtime.call('git_abort');
      assert.equal(scene.gitCode('rev-parse', '--quiet', '--verify', 'refs/heads/other'), 0);
    } finally {
      await runtime.dispose();
      scene.dispose();
    }
  });
});
