import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  createRepository,
  type GitRuntime,
  hostileWords,
  openGitRuntime,
  withRepository,
} from '../../../test/git-repository.ts';
import { gitDiff } from './git-diff.ts';

interface Diff {
  patch: string;
  files: { path: string; from?: string; status: string; additions: number; deletions: number; binary: boolean }[];
  total_files: number;
  truncated: boolean;
  lossy?: true;
}

const tools = [gitDiff];
const diff = (runtime: GitRuntime, args: object = {}) => runtime.call<Diff>('git_diff', args);
const names = ({ files }: Diff) => files.map(({ path }) => path);

describe('git_diff', () => {
  test('answers the patch git prints, with a list of files and counts [S0-43] (deep)', async () => {
    const files = {
      text: 'one\ntwo\nthree\n',
      gone: 'x\n',
      old: 'a text that is long\nenough to be found\n',
      data: 'a\0b',
    };
    await withRepository({ files, tools }, async (repository, runtime) => {
      repository.git('mv', 'old', 'new');
      repository.write({ text: 'one\n2\nthree\nfour\n', gone: null, data: 'a\0c', fresh: 'f\n', loose: 'l\n' });
      repository.git('add', 'fresh');
      const found = await diff(runtime);
      assert.equal(found.patch, repository.git('diff', '--find-renames', 'HEAD'));
      assert.deepEqual(found.files, [
        { path: 'data', status: 'modified', additions: 0, deletions: 0, binary: true },
        { path: 'fresh', status: 'added', additions: 1, deletions: 0, binary: false },
        { path: 'gone', status: 'deleted', additions: 0, deletions: 1, binary: false },
        { path: 'new', from: 'old', status: 'renamed', additions: 0, deletions: 0, binary: false },
        { path: 'text', status: 'modified', additions: 2, deletions: 1, binary: false },
      ]);
      assert.deepEqual([found.truncated, found.total_files], [false, 5]);
      const staged = await diff(runtime, { staged: true });
      assert.equal(staged.patch, repository.git('diff', '--find-renames', '--cached'));
      assert.deepEqual(names(staged), ['fresh', 'new']);
      const numbers = await diff(runtime, { stat: true });
      assert.deepEqual([numbers.patch, numbers.files], ['', found.files]);
    });
  });

  test('compares revisions: a second one, two dots, three dots [S0-43] (deep)', async () => {
    await withRepository({ files: { file: '1\n' }, tools }, async (repository, runtime) => {
      repository.git('switch', '--quiet', '--create', 'topic');
      repository.commit({ topic: 't\n' });
      repository.git('switch', '--quiet', 'main');
      repository.commit({ file: '2\n' });
      for (const [args, words] of [
        [{ rev: 'main', to: 'topic' }, ['main', 'topic']],
        [{ rev: 'main..topic' }, ['main..topic']],
        [{ rev: 'main...topic' }, ['main...topic']],
        [{ rev: 'HEAD~1..' }, ['HEAD~1..']],
        [{ rev: '..topic' }, ['..topic']],
        [{ rev: '@{-1}' }, ['topic']],
        [{ rev: 'topic', staged: true }, ['--cached', 'topic']],
        [{ rev: 'HEAD^{tree}' }, ['HEAD']],
      ] as const) {
        const { patch } = await diff(runtime, args);
        assert.equal(patch, repository.git('diff', ...words), JSON.stringify(args));
      }
      for (const args of [
        { rev: 'a..b', to: 'c' },
        { rev: 'main..topic', staged: true },
        { to: 'topic', staged: true },
      ]) {
        assert.equal((await runtime.refused('git_diff', args)).details?.['reason'], 'bad_range');
      }
    });
  });

  test('works before the first commit, in every kind of hash [S0-43] (deep)', async () => {
    for (const objectFormat of ['sha1', 'sha256'] as const) {
      const repository = createRepository({ objectFormat });
      const runtime = await openGitRuntime(repository, { tools });
      try {
        assert.equal((await diff(runtime)).patch, '');
        repository.write({ file: '1\n' });
        repository.git('add', 'file');
        repository.write({ file: '1\n2\n' });
        assert.deepEqual((await diff(runtime)).files[0]?.additions, 2);
        assert.deepEqual((await diff(runtime, { staged: true })).files[0]?.additions, 1);
        assert.equal((await diff(runtime, { staged: true })).patch, repository.git('diff', '--cached'));
        assert.equal((await runtime.refused('git_diff', { rev: 'main' })).details?.['reason'], 'unknown_revision');
      } finally {
        await runtime.dispose();
        repository.dispose();
      }
    }
  });

  test('paths are files, folders and globs; a file named like a glob means itself, also when it is gone [S0-43]', async () => {
    const files = {
      'src/a.ts': '1',
      'src/deep/b.ts': '1',
      'src/c.js': '1',
      'pages/[id].ts': '1',
      'pages/i.ts': '1',
      top: '1',
    };
    await withRepository({ files, tools }, async (repository, runtime) => {
      repository.write(Object.fromEntries(Object.keys(files).map((name) => [name, '2'])));
      for (const [paths, wanted] of [
        [['top'], ['top']],
        [['src'], ['src/a.ts', 'src/c.js', 'src/deep/b.ts']],
        [['./src//deep/'], ['src/deep/b.ts']],
        [['src/**'], ['src/a.ts', 'src/c.js', 'src/deep/b.ts']],
        [['src/*.ts'], ['src/a.ts']],
        [['**/*.ts'], ['pages/[id].ts', 'pages/i.ts', 'src/a.ts', 'src/deep/b.ts']],
        [
          ['src/*.{ts,js}', 'top'],
          ['src/a.ts', 'src/c.js', 'top'],
        ],
        [['pages/[id].ts'], ['pages/[id].ts']],
        [['nosuch'], []],
        [['.'], Object.keys(files).sort()],
      ] as const) {
        assert.deepEqual(names(await diff(runtime, { paths })), wanted, JSON.stringify(paths));
      }
      repository.write({ 'pages/[id].ts': null });
      assert.ok(names(await diff(runtime, { paths: ['pages/[id].ts'] })).includes('pages/[id].ts'));
      for (const path of ['../x', '/etc/passwd', 'a/../../b']) {
        assert.equal((await runtime.refused('git_diff', { paths: [path] })).code, 'E_POLICY', path);
      }
    });
  });

  test('a longer patch is cut behind a line and says so; the list of files stays whole [S0-43] (deep)', async () => {
    const line = `${'x'.repeat(99)}\n`;
    await withRepository({ files: { file: '' }, tools }, async (repository, runtime) => {
      repository.write({ file: line.repeat(200_000) });
      const cut = await diff(runtime, { max_bytes: 10_000 });
      assert.equal(cut.truncated, true);
      assert.ok(cut.patch.length <= 10_000 && cut.patch.length > 9_800 && cut.patch.endsWith('\n'));
      assert.ok(repository.git('diff').startsWith(cut.patch));
      assert.deepEqual(cut.files[0]?.additions, 200_000);
      repository.write({ file: line.repeat(20) });
      const whole = repository.git('diff');
      const exact = await diff(runtime, { max_bytes: whole.length });
      assert.deepEqual([exact.patch, exact.truncated], [whole, false]);
      assert.equal((await diff(runtime, { max_bytes: whole.length - 1 })).truncated, true);
    });
  });

  test('context_lines sets the lines around a change [S0-43]', async () => {
    const text = Array.from({ length: 30 }, (_, index) => `${index}\n`).join('');
    await withRepository({ files: { file: text }, tools }, async (repository, runtime) => {
      repository.write({ file: text.replace('15\n', 'x\n') });
      for (const count of [0, 1, 3, 10]) {
        assert.equal((await diff(runtime, { context_lines: count })).patch, repository.git('diff', `-U${count}`));
      }
    });
  });

  test('odd names, bytes that are no UTF-8 and unmerged files come out right [S0-43] (deep)', async () => {
    await withRepository({ files: { 'a "b"\n\tc é': '1\n', file: '1\n' }, tools }, async (repository, runtime) => {
      repository.write({ 'a "b"\n\tc é': '2\n' });
      assert.deepEqual(names(await diff(runtime)), ['a "b"\n\tc é']);
      repository.git('checkout', '--quiet', '.');
      writeFileSync(repository.path('file'), Buffer.from([0x63, 0xe9, 0x0a]));
      const latin = await diff(runtime);
      assert.deepEqual([latin.lossy, latin.patch.includes('+c\ufffd')], [true, true]);
      repository.git('checkout', '--quiet', '.');
      repository.git('switch', '--quiet', '--create', 'other');
      repository.commit({ file: 'other\n' });
      repository.git('switch', '--quiet', 'main');
      repository.commit({ file: 'main\n' });
      repository.gitCode('merge', 'other');
      assert.equal((await diff(runtime)).patch, repository.git('diff', 'HEAD'));
      assert.equal((await diff(runtime, { staged: true })).files[0]?.status, 'unmerged');
    });
  });

  test('the repository cannot change the form of the patch by its configuration [S0-43]', async () => {
    await withRepository(
      { files: { 'sub/file': '1\n', old: 'some text to find\nagain and again\n' }, tools },
      async (repository, runtime) => {
        repository.git('mv', 'old', 'moved');
        repository.write({ 'sub/file': '2\n' });
        const plain = await diff(runtime);
        for (const [key, value] of [
          ['diff.noprefix', 'true'],
          ['diff.mnemonicPrefix', 'true'],
          ['diff.renames', 'false'],
          ['diff.context', '0'],
          ['diff.relative', 'true'],
          ['color.ui', 'always'],
          ['color.diff', 'always'],
          ['core.quotePath', 'true'],
          ['diff.interHunkContext', '5'],
        ] as const) {
          repository.git('config', key, value);
        }
        assert.deepEqual(await diff(runtime), plain);
      },
    );
  });

  test('words that look like options, magic or commands are refused or mean nothing [S0-43] (deep)', async () => {
    await withRepository({ files: { file: '1\n', x: '1\n' }, tools }, async (repository, runtime) => {
      repository.write({ file: '2\n', x: '2\n' });
      const canary = join(repository.folder, 'canary');
      for (const word of hostileWords(canary)) {
        const rev = await runtime.refused('git_diff', { rev: word });
        assert.ok(['E_GIT', 'E_VALIDATION_FAIL'].includes(rev.code), JSON.stringify(word));
        assert.equal((await runtime.ask('git_diff', { to: word })).ok, false, JSON.stringify(word));
        const asPath = await runtime.ask('git_diff', { paths: [word] });
        if (asPath.ok) assert.deepEqual(names(asPath.data as unknown as Diff), [], JSON.stringify(word));
        assert.equal(existsSync(canary), false);
      }
      assert.deepEqual(names(await diff(runtime, { rev: 'main', paths: ['file'] })), ['file']);
    });
  });
});
