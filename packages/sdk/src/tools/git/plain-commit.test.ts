import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import {
  createRepository,
  type GitRuntime,
  openGitRuntime,
  type TestRepository,
  withRepository,
} from '../../../test/git-repository.ts';
import { defineTool } from '../../contracts/tool.ts';
import { gitCommit } from './git-commit.ts';

interface Counted {
  readonly runtime: GitRuntime;
  /** First words of the gits since it was asked last. */
  ran(): readonly string[];
}

/** `git_commit` under another name, with a look at the gits it starts. */
async function withCounted(
  repository: TestRepository,
  use: (counted: Counted) => Promise<void>,
  options: { readonly registry?: string; before?(verb: string): void } = {},
): Promise<void> {
  const words: string[] = [];
  const counted = defineTool({
    ...gitCommit,
    name: 'counted_commit',
    run: (args, context) => {
      const run: typeof context.git.run = (request) => {
        const [verb = ''] = request.words;
        words.push(verb);
        options.before?.(verb);
        return context.git.run(request);
      };
      return gitCommit.run(args, { ...context, git: { ...context.git, run } });
    },
  });
  const { registry } = options;
  const runtime = await openGitRuntime(repository, {
    tools: [counted],
    ...(registry === undefined ? {} : { registry }),
  });
  try {
    await use({ runtime, ran: () => words.splice(0) });
  } finally {
    await runtime.dispose();
    repository.dispose();
  }
}

function stage(repository: TestRepository, text: string): void {
  repository.write({ 'dir/a.txt': text, 'ü.txt': text });
  repository.git('add', '--all');
}

for (const objectFormat of ['sha1', 'sha256'] as const) {
  test(`what is written is what git would have written, in a repository with ${objectFormat}`, async () => {
    const repository = createRepository({ objectFormat });
    const messages = [
      'feat: begin',
      '\n\n \t\nfix: blanks \t \r\n \n\n\nbody\t\n\n\n  indented  \n# no comment\nlast \n\n',
      'fix: ünïcode 🚀\n\nSigned-off-by: nobody',
      `fix: ${'long '.repeat(2000)}`,
      '\vfix: a tab that git keeps\f',
    ];
    await withCounted(repository, async ({ runtime, ran }) => {
      for (const [at, message] of messages.entries()) {
        stage(repository, `text ${at}\n`);
        const tree = repository.git('write-tree').trim();
        await runtime.call('counted_commit', { message });
        assert.equal(ran().at(-1), 'update-ref');
        const made = repository.gitBytes(['cat-file', 'commit', 'HEAD']).toString();
        const [, date] = /> (\d+) /.exec(made) ?? [];
        const who = `Ada Tester <ada@example.org> ${date} +0000`;
        const parent = at === 0 ? '' : `parent ${repository.git('rev-parse', 'HEAD~1').trim()}\n`;
        const text = repository.gitBytes(['stripspace'], message).toString();
        assert.equal(made, `tree ${tree}\n${parent}author ${who}\ncommitter ${who}\n\n${text}`);
        const [subject = ''] = text.split('\n');
        for (const log of ['HEAD', 'main']) {
          const said = repository.git('reflog', '-1', '--format=%gs', log).trimEnd();
          assert.equal(said, `commit${at === 0 ? ' (initial)' : ''}: ${subject.slice(0, 1000).trimEnd()}`);
        }
      }
      repository.git('fsck', '--strict');
      assert.equal(repository.git('status', '--porcelain'), '');
    });
  });
}

test('a detached HEAD moves, and no branch with it', () =>
  withRepository({ files: { 'a.txt': 'one\n' } }, async (repository, runtime) => {
    const main = repository.git('rev-parse', 'main');
    repository.git('checkout', '-q', '--detach');
    stage(repository, 'two\n');
    const { commit } = await runtime.call<{ commit: string }>('git_commit', { message: 'fix: two' });
    assert.equal(repository.git('rev-parse', 'HEAD').trim(), commit);
    assert.equal(repository.git('rev-parse', 'main'), main);
  }));

test('what git does otherwise is left to git', async () => {
  const repository = createRepository({ files: { 'a.txt': 'one\n' } });
  const cases: readonly [string, () => void, object?][] = [
    ['signed off', () => {}, { signoff: true }],
    ['another clean-up', () => repository.git('config', 'commit.cleanup', 'verbatim')],
    ['a message that waits', () => repository.write({ '.git/MERGE_MSG': 'prepared\n' })],
    ['a name that git changes', () => repository.git('config', 'user.name', 'Ada Tester,')],
    ['a log of all references', () => repository.git('config', 'core.logAllRefUpdates', 'always')],
    ['trees in a pack', () => repository.git('gc', '-q')],
    ['nothing staged', () => repository.git('reset', '-q', '--hard'), { allow_empty: true }],
  ];
  await withCounted(repository, async ({ runtime, ran }) => {
    for (const [what, prepare, args] of cases) {
      stage(repository, `${what}\n`);
      prepare();
      await runtime.call('counted_commit', { message: `fix: ${what}`, ...args });
      assert.equal(ran().at(-1), 'commit', what);
      repository.gitCode('config', '--unset', 'commit.cleanup');
      repository.gitCode('config', '--unset', 'core.logAllRefUpdates');
      repository.git('config', 'user.name', 'Ada Tester');
      repository.commit({ [`${what}.txt`]: what });
    }
    repository.git('fsck', '--strict');
  });
});

test('contents that are not there are not committed', async () => {
  const repository = createRepository({ files: { 'a.txt': 'one\n' } });
  await withCounted(repository, async ({ runtime }) => {
    const before = repository.git('rev-parse', 'HEAD');
    stage(repository, 'soon gone\n');
    const blob = repository.git('rev-parse', ':ü.txt').trim();
    rmSync(repository.path(`.git/objects/${blob.slice(0, 2)}/${blob.slice(2)}`));
    const error = await runtime.refused('counted_commit', { message: 'fix: two' });
    assert.equal(error.code, 'E_GIT');
    assert.equal(repository.git('rev-parse', 'HEAD'), before);
  });
});

test('a commit that another program made in between stays, and the call says so', async () => {
  const repository = createRepository({ files: { 'a.txt': 'one\n' } });
  let theirs = '';
  const before = (verb: string): void => {
    if (verb === 'update-ref') theirs = repository.commit({ 'theirs.txt': 'theirs\n' }, 'feat: theirs');
  };
  await withCounted(
    repository,
    async ({ runtime }) => {
      stage(repository, 'two\n');
      const error = await runtime.refused('counted_commit', { message: 'fix: two' });
      assert.equal(error.details?.['reason'], 'head_moved');
      assert.equal(repository.git('rev-parse', 'HEAD').trim(), theirs);
    },
    { before },
  );
});

test('an unfinished operation that git did not leave so refuses the commit', () =>
  withRepository({ files: { 'a.txt': 'one\n' } }, async (repository, runtime) => {
    stage(repository, 'two\n');
    repository.write({ '.git/BISECT_LOG': { link: '../a.txt' } });
    const error = await runtime.refused('git_commit', { message: 'fix: two' });
    assert.equal(error.details?.['reason'], 'operation_state');
  }));
