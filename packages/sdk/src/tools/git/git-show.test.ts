import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type GitRuntime, hostileWords, withRepository } from '../../../test/git-repository.ts';
import { gitShow } from './git-show.ts';

interface Show {
  hash: string;
  commit?: {
    hash: string;
    parents: string[];
    subject: string;
    body: string;
    patch: string;
    files: { path: string; status: string; additions: number }[];
    total_files: number;
    lossy?: true;
  };
  file?: { path: string; mode: string; blob: string; size: number; content: string; encoding: string };
  truncated: boolean;
}

const tools = [gitShow];
const show = (runtime: GitRuntime, args: object = {}) => runtime.call<Show>('git_show', args);

describe('git_show', () => {
  test('git_show answers facts and patch of a commit, the first one and empty ones too [S0-43] (deep)', async () => {
    await withRepository({ files: { file: '1\n', other: 'x\n' }, tools }, async (repository, runtime) => {
      repository.git('config', 'log.showRoot', 'false');
      const first = await show(runtime);
      assert.deepEqual(
        first.commit?.files.map(({ path, status }) => [path, status]),
        [
          ['file', 'added'],
          ['other', 'added'],
        ],
      );
      assert.deepEqual([first.commit?.parents, first.truncated, first.file], [[], false, undefined]);
      const hash = repository.commit({ file: '1\n2\n' }, 'feat: more\n\nwith a: colon\n');
      const second = await show(runtime, { rev: 'main' });
      assert.deepEqual([second.hash, second.commit?.hash], [hash, hash]);
      assert.deepEqual([second.commit?.subject, second.commit?.body], ['feat: more', 'with a: colon']);
      assert.equal(second.commit?.patch, repository.git('show', '--format=', 'HEAD'));
      repository.git('tag', '-a', 'v1', '-m', 'tag');
      assert.equal((await show(runtime, { rev: 'v1' })).commit?.subject, 'feat: more', 'a tag stands for its commit');
      repository.commit({}, 'empty');
      const empty = await show(runtime);
      assert.deepEqual([empty.commit?.patch, empty.commit?.files, empty.commit?.body], ['', [], '']);
    });
  });

  test('git_show compares a merge with its first parent [S0-43]', async () => {
    await withRepository({ files: { file: '1\n' }, tools }, async (repository, runtime) => {
      repository.git('switch', '--quiet', '--create', 'topic');
      repository.commit({ topic: 't\n' });
      repository.git('switch', '--quiet', 'main');
      repository.commit({ file: '2\n' });
      repository.git('merge', '--quiet', '--no-ff', '-m', 'merge', 'topic');
      const { commit } = await show(runtime);
      assert.equal(commit?.parents.length, 2);
      assert.equal(commit?.patch, repository.git('diff', 'HEAD^1', 'HEAD'));
    });
  });

  test('git_show cuts a long patch behind a line [S0-43]', async () => {
    await withRepository({ files: { file: `${'x'.repeat(99)}\n`.repeat(1000) }, tools }, async (_, runtime) => {
      const { commit, truncated } = await show(runtime, { max_bytes: 5000 });
      assert.equal(truncated, true);
      assert.ok(commit !== undefined && commit.patch.length <= 5000 && commit.patch.endsWith('\n'));
      assert.equal(commit.files[0]?.additions, 1000);
      assert.equal((await show(runtime)).truncated, false);
    });
  });

  test('git_show answers a file as it was, text or base64, up to a limit [S0-43] (deep)', async () => {
    const data = Buffer.from([0, 1, 2, 255]);
    const files = {
      'dir/a\nb "c"': 'one\n',
      data,
      latin: Buffer.from('caf\xe9', 'latin1'),
      empty: '',
      run: { text: '#!/bin/sh\n', mode: 0o755 },
      link: { link: 'dir' },
      long: 'é'.repeat(1000),
      ':(top)x': 'colon',
    };
    await withRepository({ files, tools }, async (repository, runtime) => {
      repository.commit({ 'dir/a\nb "c"': 'two\n', data: null });
      const file = async (path: string, args: object = {}) =>
        (await show(runtime, { rev: 'HEAD~1', path, ...args })).file;
      assert.equal((await file('dir/a\nb "c"'))?.content, 'one\n');
      assert.equal((await file('./dir//a\nb "c"', { rev: 'HEAD' }))?.content, 'two\n');
      const binary = await file('data');
      assert.deepEqual([binary?.content, binary?.encoding, binary?.size], [data.toString('base64'), 'base64', 4]);
      assert.deepEqual([(await file('latin'))?.content, (await file('latin'))?.encoding], ['café', 'latin1']);
      assert.deepEqual([(await file('empty'))?.content, (await file('empty'))?.size], ['', 0]);
      assert.deepEqual([(await file('run'))?.mode, (await file('link'))?.mode], ['100755', '120000']);
      assert.deepEqual([(await file('link'))?.content, (await file(':(top)x'))?.content], ['dir', 'colon']);
      const cut = await show(runtime, { path: 'long', max_bytes: 101 });
      assert.deepEqual([cut.truncated, cut.file?.content, cut.file?.size], [true, 'é'.repeat(50), 2000]);
      assert.equal((await show(runtime, { path: 'long', max_bytes: 2000 })).truncated, false);
      assert.equal((await file('long'))?.blob, repository.git('rev-parse', 'HEAD:long').trim());
      for (const [path, reason] of [
        ['nosuch', 'no_such_path'],
        ['dir', 'not_a_file'],
        ['.', 'not_a_file'],
        ['link/a', 'no_such_path'],
        ['d*', 'no_such_path'],
      ] as const) {
        const error = await runtime.refused('git_show', { path });
        assert.deepEqual([error.code, error.details?.['reason']], ['E_GIT', reason], path);
      }
      for (const path of ['../x', '/etc/passwd']) {
        assert.equal((await runtime.refused('git_show', { path })).code, 'E_POLICY');
      }
    });
  });

  test('git_show refuses what is no revision and takes no word for an option [S0-43] (deep)', async () => {
    await withRepository({ tools }, async (repository, runtime) => {
      assert.equal((await runtime.refused('git_show')).details?.['reason'], 'unknown_revision', 'no commit yet');
      repository.commit({ file: '1' });
      const canary = join(repository.folder, 'canary');
      for (const word of hostileWords(canary)) {
        assert.equal((await runtime.ask('git_show', { rev: word })).ok, false, JSON.stringify(word));
        assert.equal((await runtime.ask('git_show', { path: word })).ok, false, JSON.stringify(word));
        assert.equal(existsSync(canary), false);
      }
      assert.equal((await show(runtime, { rev: 'main', path: 'file' })).file?.content, '1');
    });
  });
});
