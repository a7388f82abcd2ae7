import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  type GitRuntime,
  hostileWords,
  openRepository,
  type TestRepository,
  withRepository,
} from '../../../test/git-repository.ts';
import { defineTool } from '../../contracts/tool.ts';
import { gitAdd } from './git-add.ts';

interface Added {
  added: number;
  paths: string[];
}

const tools = [gitAdd];
const add = async (runtime: GitRuntime, args: object) => {
  const answer = await runtime.call<Added>('git_add', args);
  assert.equal(answer.added, answer.paths.length);
  return [...answer.paths].sort();
};
const index = (repository: TestRepository) => repository.git('ls-files', '--stage', '-z');

function nested(repository: TestRepository, name: string): TestRepository {
  const folder = repository.path(name);
  mkdirSync(folder, { recursive: true });
  const inner = openRepository(folder, repository.beside);
  inner.git('init', '--quiet', '--initial-branch=main');
  inner.git('config', 'user.name', 'x');
  inner.git('config', 'user.email', 'x@example.org');
  inner.commit({ inside: '1' });
  return inner;
}

describe('git_add', () => {
  test('stages new, changed and deleted files and counts the entries that changed [S0-44]', async () => {
    const files = { changed: '1', gone: '1', same: '1', 'dir/deep': '1' };
    await withRepository({ files, tools }, async (repository, runtime) => {
      repository.write({ changed: '2', gone: null, 'dir/new': 'n', fresh: 'f' });
      assert.deepEqual(await add(runtime, { paths: ['changed', 'gone'] }), ['changed', 'gone']);
      assert.equal(repository.git('diff', '--cached', '--name-status'), 'M\tchanged\nD\tgone\n');
      assert.deepEqual(await add(runtime, { paths: ['changed', 'same'] }), []);
      assert.deepEqual(await add(runtime, { paths: ['.'] }), ['dir/new', 'fresh']);
      assert.equal(repository.git('status', '--porcelain=v1').match(/^.[^ ]/gm), null);
      assert.deepEqual(await add(runtime, { paths: ['.'] }), []);
    });
  });

  test('starts git once for tracked files that are named one by one [S0-44]', async () => {
    const words: string[] = [];
    const counted = defineTool({
      ...gitAdd,
      name: 'counted_add',
      run: (args, context) => {
        const run: typeof context.git.run = (request) => {
          words.push(request.words[0] ?? '');
          return context.git.run(request);
        };
        return gitAdd.run(args, { ...context, git: { ...context.git, run } });
      },
    });
    const files = { a: '1', 'dir/ü': '1', 'o\'dd \t\\"': '1', same: '1', run: '1', "s\nadd 'same'": '1' };
    await withRepository({ files, tools: [counted] }, async (repository, runtime) => {
      repository.write({ a: '2', 'dir/ü': '2', run: { text: '1', mode: 0o755 }, fresh: '1', same: '1' });
      const stage = async (args: object) => (await runtime.call<Added>('counted_add', args)).paths;
      const named = { paths: ['./dir/ü', 'a', 'same', 'run'] };
      assert.deepEqual(await stage(named), ['a', 'dir/ü', 'run']);
      assert.deepEqual(words.splice(0), ['add']);
      assert.deepEqual(await stage(named), []);
      assert.deepEqual(words.splice(0), ['add']);
      assert.deepEqual(await stage({ paths: ['fresh'] }), ['fresh']);
      assert.deepEqual(words.splice(0), ['status', 'add'], 'a new file may be ignored');
      repository.write({ 'o\'dd \t\\"': '2', "s\nadd 'same'": '2' });
      assert.deepEqual(await stage({ paths: ['o\'dd \t\\"', 'same'] }), ['o\'dd \t\\"']);
      assert.deepEqual(words.splice(0), ['add']);
      assert.deepEqual(await stage({ paths: ["s\nadd 'same'", 'same'] }), ["s\nadd 'same'"]);
      assert.equal(words[0], 'status', 'git would name it in two lines');
      words.splice(0);
      repository.write({ a: '3', '.gitattributes': '*.bin filter=lfs\n' });
      assert.deepEqual(await stage({ paths: ['a'] }), ['a']);
      assert.equal(words[0], 'status', 'contents may belong to git-lfs');
    });
  });

  test('works before the first commit, with odd names, links, modes and renames [S0-44]', async () => {
    await withRepository({ tools }, async (repository, runtime) => {
      const odd = { 'a b': '1', 'q"': '1', 'n\nl': '1', ü: '1', '-dash': '1', ':colon': '1', '[x]': '1', x: '1' };
      repository.write({ ...odd, link: { link: 'x' }, run: { text: '#!', mode: 0o755 } });
      assert.deepEqual(await add(runtime, { paths: ['[x]', ':colon', '-dash', 'n\nl'] }), [
        '-dash',
        ':colon',
        '[x]',
        'n\nl',
      ]);
      assert.equal((await add(runtime, { paths: ['**'] })).length, 6);
      assert.match(repository.git('ls-files', '--stage', 'run', 'link'), /^120000 .*\tlink\n100755 .*\trun\n$/);
      repository.commit({});
      repository.write({ x: null, moved: '1', '[x]': null });
      assert.deepEqual(await add(runtime, { paths: ['x', 'moved'] }), ['moved', 'x']);
      assert.deepEqual(await add(runtime, { paths: ['[x]'] }), ['[x]']);
    });
  });

  test('a glob stages what it covers and no more [S0-44] (deep)', async () => {
    await withRepository({ files: { 'src/a.ts': '1', 'src/deep/b.ts': '1' }, tools }, async (repository, runtime) => {
      repository.write({ 'src/a.ts': '2', 'src/deep/b.ts': '2', 'src/c.js': '1', top: '1' });
      assert.deepEqual(await add(runtime, { paths: ['src/*.{ts,js}'] }), ['src/a.ts', 'src/c.js']);
      assert.deepEqual(await add(runtime, { paths: ['src/**'] }), ['src/deep/b.ts']);
      assert.equal(repository.git('status', '--porcelain', 'top'), '?? top\n');
    });
  });

  test('update leaves new files alone [S0-44]', async () => {
    await withRepository({ files: { known: '1', gone: '1' }, tools }, async (repository, runtime) => {
      repository.write({ known: '2', gone: null, fresh: '1' });
      assert.deepEqual(await add(runtime, { paths: ['.'], update: true }), ['gone', 'known']);
      assert.equal(repository.git('status', '--porcelain', 'fresh'), '?? fresh\n');
      assert.equal((await runtime.refused('git_add', { paths: ['nosuch'], update: true })).code, 'E_GIT');
    });
  });

  test('a path that matches nothing is named, and nothing is staged then [S0-44] (deep)', async () => {
    await withRepository({ files: { file: '1' }, tools }, async (repository, runtime) => {
      repository.write({ file: '2' });
      const before = index(repository);
      for (const path of ['nosuch', 'no/such', '*.nope', 'no\nsuch']) {
        const error = await runtime.refused('git_add', { paths: ['file', path] });
        assert.deepEqual([error.code, error.details?.['reason']], ['E_GIT', 'no_match'], path);
        assert.ok(error.message.includes(path.replace('\n', '\\n')), error.message);
        assert.equal(index(repository), before);
      }
      assert.deepEqual(await add(runtime, { paths: ['file'] }), ['file']);
    });
  });

  test('an ignored file that is named itself is refused whole; force takes it [S0-44]', async () => {
    await withRepository(
      { files: { '.gitignore': '*.log\nbuild/\n', file: '1' }, tools },
      async (repository, runtime) => {
        repository.write({ file: '2', 'a.log': '1', 'build/x': '1', 'build/y': '1', 'dir/b.log': '1', 'dir/c': '1' });
        const before = index(repository);
        const error = await runtime.refused('git_add', { paths: ['file', 'a.log', 'build'] });
        assert.deepEqual(
          [error.code, error.details?.['reason'], error.details?.['paths']],
          ['E_GIT', 'ignored', ['a.log', 'build']],
        );
        assert.equal(index(repository), before);
        assert.deepEqual(await add(runtime, { paths: ['dir'] }), ['dir/c']);
        assert.deepEqual(await add(runtime, { paths: ['a.log', 'build'], force: true }), [
          'a.log',
          'build/x',
          'build/y',
        ]);
        repository.write({ 'a.log': '2' });
        assert.deepEqual(await add(runtime, { paths: ['a.log'] }), ['a.log'], 'known files are not ignored');
      },
    );
  });

  test('resolves conflicts, replaces files by folders and folders by files [S0-44]', async () => {
    await withRepository({ files: { file: '1\n', swap: '1', 'turn/in': '1' }, tools }, async (repository, runtime) => {
      repository.git('switch', '--quiet', '--create', 'other');
      repository.commit({ file: 'other\n' });
      repository.git('switch', '--quiet', 'main');
      repository.commit({ file: 'main\n' });
      repository.gitCode('merge', 'other');
      repository.write({ file: 'both\n' });
      assert.deepEqual(await add(runtime, { paths: ['file'] }), ['file']);
      assert.equal(repository.git('ls-files', '--unmerged'), '');
      repository.write({ swap: null, turn: null });
      repository.write({ 'swap/in': '1', turn: '1' });
      assert.deepEqual(await add(runtime, { paths: ['.'] }), ['swap', 'swap/in', 'turn', 'turn/in']);
      assert.equal(repository.git('ls-files', '-z'), 'file\0swap/in\0turn\0');
    });
  });

  test('files of another repository are refused when named and left out when covered [S0-44] (deep)', async () => {
    await withRepository({ files: { file: '1' }, tools }, async (repository, runtime) => {
      nested(repository, 'lib/inner');
      repository.write({ 'lib/own': '1', 'hollow/.keep': '1' });
      for (const path of ['lib/inner', 'lib/inner/inside', 'lib/inner/*', 'lib/inner/**']) {
        const error = await runtime.refused('git_add', { paths: [path] });
        assert.deepEqual([error.code, error.details?.['reason']], ['E_GIT', 'nested_repository'], path);
      }
      const response = await runtime.ask('git_add', { paths: ['.'] });
      assert.deepEqual((response.data as unknown as Added).paths.sort(), ['hollow/.keep', 'lib/own']);
      assert.equal(response.warnings[0]?.path, 'lib/inner');
      assert.ok(!index(repository).includes('160000'));
    });
  });

  test('a submodule is staged by its commit and never entered [S0-44] (deep)', async () => {
    await withRepository({ files: { file: '1' }, tools }, async (repository, runtime) => {
      const inner = nested(repository, '../inner');
      repository.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.folder, 'sub');
      repository.commit({});
      const sub = openRepository(repository.path('sub'), repository.beside);
      sub.git('config', 'user.name', 'x');
      sub.git('config', 'user.email', 'x@example.org');
      writeFileSync(repository.path('sub/inside'), 'dirty');
      assert.deepEqual(await add(runtime, { paths: ['.'] }), []);
      assert.equal(
        (await runtime.refused('git_add', { paths: ['sub/inside'] })).details?.['reason'],
        'nested_repository',
      );
      const head = sub.commit({});
      assert.deepEqual(await add(runtime, { paths: ['sub'] }), ['sub']);
      assert.match(index(repository), new RegExp(`160000 ${head} 0\tsub`));
    });
  });

  test('a sparse checkout keeps what is not there, and what is there can be staged [S0-44] (deep)', async () => {
    await withRepository({ files: { 'in/a': '1', 'out/b': '1', top: '1' }, tools }, async (repository, runtime) => {
      repository.git('sparse-checkout', 'set', 'in');
      assert.equal(existsSync(repository.path('out/b')), false);
      repository.write({ 'in/a': '2', 'out/new': '1' });
      assert.equal((await runtime.refused('git_add', { paths: ['out/b'] })).details?.['reason'], 'no_match');
      assert.deepEqual(await add(runtime, { paths: ['.'] }), ['in/a', 'out/new']);
      assert.equal(repository.git('diff', '--cached', '--name-status'), 'M\tin/a\nA\tout/new\n');
    });
  });

  test('paths outside the workspace and git data are refused by policy [S0-44] (deep)', async () => {
    await withRepository({ files: { file: '1' }, tools }, async (repository, runtime) => {
      writeFileSync(join(repository.beside, 'secret'), 's');
      repository.write({ link: { link: '..' }, dir: null, 'dir/file': '1' });
      for (const path of [
        '../secret',
        '/etc/passwd',
        'dir/../../secret',
        '.git/config',
        '.GIT/hooks/x',
        'dir/.git/x',
        '.git',
      ]) {
        assert.equal((await runtime.refused('git_add', { paths: [path] })).code, 'E_POLICY', path);
      }
      assert.equal((await runtime.refused('git_add', { paths: ['link/secret'] })).code, 'E_POLICY', 'behind a link');
      assert.deepEqual(await add(runtime, { paths: ['link', 'dir/file'] }), ['dir/file', 'link']);
      assert.equal(repository.git('cat-file', '-p', ':link'), '..', 'the link itself');
    });
  });

  test('words that look like options, magic or commands stage nothing [S0-44] (deep)', async () => {
    await withRepository({ files: { file: '1' }, tools }, async (repository, runtime) => {
      repository.write({ file: '2', x: '1' });
      const canary = join(repository.folder, 'canary');
      const before = index(repository);
      for (const word of hostileWords(canary)) {
        const error = await runtime.refused('git_add', { paths: [word] });
        assert.ok(['E_GIT', 'E_POLICY', 'E_VALIDATION_FAIL'].includes(error.code), JSON.stringify(word));
        assert.equal(index(repository), before, JSON.stringify(word));
        assert.equal(existsSync(canary), false);
      }
      repository.write({ '--output=x': '1' });
      assert.deepEqual(await add(runtime, { paths: ['--output=x'] }), ['--output=x']);
    });
  });

  test('a filter in the repository does not run when files are staged [S0-51] (deep)', async () => {
    await withRepository({ files: { '.gitattributes': '* filter=evil\n' }, tools }, async (repository, runtime) => {
      const canary = join(repository.folder, 'canary');
      repository.write({ file: '1' });
      repository.git('config', 'filter.evil.clean', `touch ${canary}`);
      assert.deepEqual(await add(runtime, { paths: ['file'] }), ['file']);
      assert.equal(existsSync(canary), false);
      assert.equal(repository.git('show', ':file'), '1');
    });
  });
});
