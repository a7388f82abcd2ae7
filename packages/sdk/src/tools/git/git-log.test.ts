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
import { dateWords, gitDate, gitLog } from './git-log.ts';

interface Person {
  name: string;
  email: string;
  date: string;
}

interface Commit {
  hash: string;
  parents: string[];
  author: Person;
  committer: Person;
  subject: string;
  body: string;
  refs: string[];
}

interface Log {
  commits: Commit[];
  truncated: boolean;
}

const tools = [gitLog];
const log = (runtime: GitRuntime, args: object = {}) => runtime.call<Log>('git_log', args);
const subjects = async (runtime: GitRuntime, args: object = {}) =>
  (await log(runtime, args)).commits.map(({ subject }) => subject);

describe('git_log', () => {
  test('git_log answers what git knows of each commit, newest first [S0-43]', async () => {
    await withRepository({ files: { file: '1' }, tools }, async (repository, runtime) => {
      const hash = repository.commit(
        { file: '2' },
        'feat: ünïcode "quoted"\n\nA body\nof two lines\n\nSigned-off-by: x\n',
      );
      repository.git('tag', '-a', 'v1', '-m', 'tag');
      repository.git('branch', 'side/line');
      const { commits, truncated } = await log(runtime);
      const [newest, oldest] = commits;
      assert.equal(truncated, false);
      assert.deepEqual(newest, {
        hash,
        parents: [oldest?.hash],
        author: { name: 'Ada Tester', email: 'ada@example.org', date: '2023-11-14T22:15:20+00:00' },
        committer: { name: 'Ada Tester', email: 'ada@example.org', date: '2023-11-14T22:15:20+00:00' },
        subject: 'feat: ünïcode "quoted"',
        body: 'A body\nof two lines\n\nSigned-off-by: x',
        refs: ['HEAD', 'refs/heads/main', 'refs/tags/v1', 'refs/heads/side/line'],
      });
      assert.deepEqual([oldest?.parents, oldest?.refs], [[], []]);
    });
  });

  test('git_log max, skip and truncated page through a history [S0-43]', async () => {
    await withRepository({ files: { file: '0' }, tools }, async (repository, runtime) => {
      for (const number of [1, 2, 3, 4]) repository.commit({ file: `${number}` }, `commit ${number}`);
      const first = await log(runtime, { max: 2 });
      assert.deepEqual(
        [first.commits.map(({ subject }) => subject), first.truncated],
        [['commit 4', 'commit 3'], true],
      );
      const last = await log(runtime, { max: 3, skip: 2 });
      assert.deepEqual(
        [last.commits.map(({ subject }) => subject), last.truncated],
        [['commit 2', 'commit 1', 'chore: begin'], false],
      );
      assert.deepEqual(await log(runtime, { skip: 5 }), { commits: [], truncated: false });
      assert.equal((await runtime.refused('git_log', { max: 1001 })).code, 'E_VALIDATION_FAIL');
    });
  });

  test('git_log filters by path, author, message and date, all as plain text [S0-43] (deep)', async () => {
    await withRepository({ files: { a: '1', 'src/b.ts': '1' }, tools }, async (repository, runtime) => {
      repository.commit({ a: '2' }, 'fix: a.c [x] (y)');
      repository.git('config', 'user.name', 'Bea +1');
      repository.commit({ 'src/b.ts': '2' }, 'feat: abc');
      assert.deepEqual(await subjects(runtime, { paths: ['a'] }), ['fix: a.c [x] (y)', 'chore: begin']);
      assert.deepEqual(await subjects(runtime, { paths: ['src/**'] }), ['feat: abc', 'chore: begin']);
      assert.deepEqual(await subjects(runtime, { grep: 'a.c' }), ['fix: a.c [x] (y)']);
      assert.deepEqual(await subjects(runtime, { grep: '[x] (y)' }), ['fix: a.c [x] (y)']);
      assert.deepEqual(await subjects(runtime, { grep: '--all' }), []);
      assert.deepEqual(await subjects(runtime, { author: 'Bea +1' }), ['feat: abc']);
      assert.deepEqual(await subjects(runtime, { author: 'Be.' }), []);
      assert.deepEqual(await subjects(runtime, { since: '2023-11-14T22:15:30Z' }), ['feat: abc']);
      assert.deepEqual(await subjects(runtime, { until: '2023-11-14T22:14:30Z' }), ['chore: begin']);
      assert.equal(
        (await subjects(runtime, { since: '2023-11-14', until: '2023-11-14' })).length,
        3,
        'a day is a whole day',
      );
      assert.deepEqual(await subjects(runtime, { since: '2023-11-15' }), []);
      assert.deepEqual(await subjects(runtime, { since: '1 day ago' }), []);
      for (const date of ['--all', 'tea time', '2023-13-01', '2023-11-14; x', 'now\n', '99999999 days ago', '@1']) {
        assert.equal((await runtime.refused('git_log', { since: date })).code, 'E_VALIDATION_FAIL', date);
      }
    });
  });

  test('git_log reads ranges and follows first parents and renames [S0-43]', async () => {
    await withRepository(
      { files: { old: 'a text that is long\nenough to be found\n' }, tools },
      async (repository, runtime) => {
        repository.git('switch', '--quiet', '--create', 'topic');
        repository.commit({ topic: '1' }, 'topic');
        repository.git('switch', '--quiet', 'main');
        repository.git('mv', 'old', 'new [1]');
        repository.commit({}, 'move');
        assert.deepEqual(await subjects(runtime, { rev: 'main..topic' }), ['topic']);
        assert.deepEqual((await subjects(runtime, { rev: 'main...topic' })).sort(), ['move', 'topic']);
        assert.deepEqual(await subjects(runtime, { rev: 'topic..' }), ['move']);
        repository.git('merge', '--quiet', '--no-ff', '-m', 'merge', 'topic');
        assert.deepEqual(await subjects(runtime, { first_parent: true }), ['merge', 'move', 'chore: begin']);
        assert.equal((await log(runtime)).commits[0]?.parents.length, 2);
        assert.deepEqual(await subjects(runtime, { paths: ['new [1]'] }), ['move']);
        assert.deepEqual(await subjects(runtime, { paths: ['new [1]'], follow: true }), ['move', 'chore: begin']);
        repository.git('config', 'log.follow', 'true');
        assert.deepEqual(await subjects(runtime, { paths: ['new [1]'] }), ['move']);
        for (const paths of [[], ['a', 'b'], ['*.ts']]) {
          assert.equal((await runtime.refused('git_log', { paths, follow: true })).details?.['reason'], 'bad_follow');
        }
      },
    );
  });

  test('git_log answers no commits before the first one and says which revision is unknown [S0-43]', async () => {
    await withRepository({ tools }, async (repository, runtime) => {
      assert.deepEqual(await log(runtime), { commits: [], truncated: false });
      const unknown = await runtime.refused('git_log', { rev: 'main' });
      assert.deepEqual([unknown.code, unknown.details?.['reason'], unknown.path], ['E_GIT', 'unknown_revision', 'ref']);
      repository.commit({ file: '1' });
      assert.equal((await log(runtime, { rev: 'main' })).commits.length, 1);
    });
  });

  test('git_log reads shallow clones, other encodings and very long messages [S0-43] (deep)', async () => {
    const repository = createRepository({ files: { file: '1' } });
    try {
      repository.git('config', 'i18n.commitEncoding', 'ISO-8859-1');
      repository.write({ file: '2' });
      repository.gitBytes(['commit', '--quiet', '-aF', '-'], Buffer.from('caf\xe9', 'latin1'));
      repository.git('config', 'i18n.logOutputEncoding', 'ISO-8859-1');
      const runtime = await openGitRuntime(repository, { tools });
      assert.equal((await log(runtime)).commits[0]?.subject, 'café');
      repository.git('config', '--unset', 'i18n.commitEncoding');
      for (let count = 0; count < 4; count++) repository.commit({}, `big\n\n${'x'.repeat(6 * 1024 * 1024)}`);
      const cut = await log(runtime);
      assert.deepEqual([cut.commits.length, cut.truncated], [2, true]);
      await runtime.dispose();
      repository.git('clone', '--quiet', '--depth=2', '--no-local', repository.folder, '../shallow');
      const shallow = await openGitRuntime({ folder: join(repository.beside, 'shallow') }, { tools });
      assert.equal((await log(shallow, { max: 1 })).commits.length, 1);
      await shallow.dispose();
    } finally {
      repository.dispose();
    }
  });

  test('git_log takes no word of a caller for an option [S0-43] (deep)', async () => {
    await withRepository({ files: { file: '1' }, tools }, async (repository, runtime) => {
      const canary = join(repository.folder, 'canary');
      for (const word of hostileWords(canary)) {
        assert.equal((await runtime.ask('git_log', { rev: word })).ok, false, JSON.stringify(word));
        for (const key of ['author', 'grep', 'since', 'until']) {
          const response = await runtime.ask('git_log', { [key]: word });
          if (response.ok)
            assert.deepEqual((response.data as unknown as Log).commits, [], `${key} ${JSON.stringify(word)}`);
        }
        const asPath = await runtime.ask('git_log', { paths: [word] });
        if (asPath.ok) assert.deepEqual((asPath.data as unknown as Log).commits, []);
        assert.equal(existsSync(canary), false);
      }
      assert.equal(
        (await log(runtime, { rev: 'main', author: 'Ada', grep: 'begin', paths: ['file'] })).commits.length,
        1,
      );
    });
  });
});

test('dates are ISO dates or a few plain words, nothing else [S0-43]', () => {
  for (const good of [
    '2026-01-31',
    '2026-01-31T08:00',
    '2026-01-31 08:00:59',
    '2026-01-31T08:00:00Z',
    '2026-01-31T08:00:00+02:00',
    'yesterday',
    '2 weeks ago',
    '1.day.ago',
  ]) {
    assert.equal(dateWords.safeParse(good).success, true, good);
  }
  for (const bad of [
    '',
    '-1',
    '--all',
    '2026-1-3',
    '2026-01-32',
    'tomorrow',
    '2 weeks',
    'x ago',
    '2026-01-31\n',
    ' now',
    '2026-01-31T25:00',
  ]) {
    assert.equal(dateWords.safeParse(bad).success, false, bad);
  }
});

test('a bare day is the whole day [S0-43]', () => {
  assert.deepEqual(
    [gitDate('2026-01-31', 'since'), gitDate('2026-01-31', 'until')],
    ['2026-01-31T00:00:00', '2026-01-31T23:59:59'],
  );
  assert.deepEqual([gitDate('today', 'since'), gitDate('today', 'until')], ['midnight', 'now']);
  assert.equal(gitDate('2 weeks ago', 'since'), '2 weeks ago');
});
