import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { createRepository, openGitRuntime, openRepository, withRepository } from '../../../test/git-repository.ts';
import { filesOf, stateOf } from '../../../test/git-state.ts';
import { defineTool } from '../../contracts/tool.ts';
import { WRITE_GIT } from './git-annotations.ts';
import { gitRecover } from './git-recover.ts';
import { saveRecovery } from './recovery/save-recovery.ts';

/** Saves and nothing else: what a verb does before it begins. */
const save = defineTool({
  name: 'save_state',
  category: 'git',
  title: 'Save',
  summary: 'Save the state',
  args: z.strictObject({ target: z.string().exactOptional() }),
  data: z.strictObject({ recovery: z.string(), details: z.any() }),
  annotations: WRITE_GIT,
  effect: 'write',
  risk: 'low',
  timeoutMs: 60_000,
  locks: ['git'],
  run: async ({ target }, context) => {
    const { ref, details } = await saveRecovery(context, { verb: 'merge', target });
    return { recovery: ref, details };
  },
});
const tools = [save, gitRecover];

interface Saved {
  readonly recovery: string;
  readonly details: Record<string, unknown>;
}
interface Recovered {
  readonly restored: boolean;
  readonly recovery: string;
  readonly head: string | null;
  readonly branch: string | null;
  readonly recoveries: readonly { readonly recovery: string; readonly verb: string; readonly files: number }[];
}

const ODD = [
  'with space',
  'with "quotes"',
  "it's",
  'new\nline',
  'ünï ☃',
  '-dash',
  ':(top)x',
  'tab\tname',
  'back\\slash',
];
const EVERYTHING = {
  'kept.txt': 'kept\n',
  'changed.txt': 'old\n',
  'staged.txt': 'old\n',
  'both.txt': 'old\n',
  'gone.txt': 'old\n',
  'removed.txt': 'old\n',
  'run.sh': { text: '#!/bin/sh\n', mode: 0o755 },
  link: { link: 'kept.txt' },
  'folder/inner.txt': 'old\n',
  '.gitignore': 'ignored/\n',
  ...Object.fromEntries(ODD.map((name) => [`odd/${name}`, 'old\n'])),
};

/** Every kind of change there is. */
function makeDirty(repository: ReturnType<typeof createRepository>): void {
  repository.write({
    'changed.txt': 'new\r\nbytes \x00\xff\n',
    'staged.txt': 'staged\n',
    'both.txt': 'staged\n',
    'gone.txt': null,
    'run.sh': { text: '#!/bin/sh\nnew\n', mode: 0o644 },
    link: { link: 'folder/inner.txt' },
    'folder/inner.txt': null,
    'new.txt': 'new\n',
    'untracked.bin': Buffer.from([0, 255, 13, 10, 13]),
    'untracked-link': { link: '/nowhere at all' },
    'secret.sh': { text: 'private\n', mode: 0o700 },
    'ignored/x': 'ignored\n',
    'deep/er/file': '',
    ...Object.fromEntries(ODD.map((name) => [`odd/${name}`, `new ${name}\n`])),
    ...Object.fromEntries(ODD.map((name) => [`un/${name}`, `new ${name}\n`])),
  });
  repository.git('add', 'staged.txt', 'both.txt', 'new.txt');
  repository.git('rm', '--quiet', 'removed.txt');
  repository.write({ 'both.txt': 'and more\n' });
  chmodSync(repository.path('secret.sh'), 0o600);
}

/** All of it again, differently. */
function disturb(repository: ReturnType<typeof createRepository>): void {
  rmSync(repository.path('un'), { recursive: true });
  repository.git('add', '--all');
  repository.commit({ 'changed.txt': 'x', 'removed.txt': 'back\n', 'folder/inner.txt': 'x', 'kept.txt': 'x' }, 'more');
  repository.git('switch', '--quiet', '-c', 'elsewhere');
  repository.commit({ 'secret.sh': 'x', 'untracked.bin': null, link: 'a file now' }, 'further');
  repository.write({ 'since.txt': 'made since\n', 'kept.txt': 'dirty again' });
}

describe('git_recover [S0-51]', () => {
  test('puts HEAD, branch, index, files, modes, links and odd names back byte for byte [S0-51] (deep)', () =>
    withRepository({ files: EVERYTHING, tools }, async (repository, runtime) => {
      makeDirty(repository);
      const before = stateOf(repository);
      const status = repository.git('status', '--porcelain=v2', '-z', '--branch');
      const saved = await runtime.call<Saved>('save_state');
      assert.deepEqual(stateOf(repository), before, 'saving changes nothing');
      disturb(repository);
      const disturbed = stateOf(repository);
      const done = await runtime.call<Recovered>('git_recover', { recovery: saved.recovery });
      const after = stateOf(repository);
      const { 'since.txt': since, ...files } = after.files;
      assert.equal(since, '644 made since\n');
      assert.deepEqual(files, before.files);
      assert.equal(after.index, before.index);
      assert.equal(after.head, before.head);
      assert.equal(repository.git('rev-parse', 'main').trim(), done.head);
      rmSync(repository.path('since.txt'));
      assert.equal(repository.git('status', '--porcelain=v2', '-z', '--branch'), status);

      await runtime.call<Recovered>('git_recover', { recovery: done.recovery });
      const again = stateOf(repository);
      const untracked = Object.entries(before.files).filter(([name]) => /^un/.test(name));
      const files2 = { ...disturbed.files, ...Object.fromEntries(untracked) };
      assert.deepEqual(again, { ...disturbed, files: files2 }, 'what is untracked by now stays');
    }));

  test('an unborn HEAD with staged and untracked files, and one without an index [S0-51] (deep)', () =>
    withRepository({ tools }, async (repository, runtime) => {
      const bare = await runtime.call<Saved>('save_state');
      repository.write({ 'a.txt': 'one\n', 'b.txt': 'two\n' });
      repository.git('add', 'a.txt');
      repository.write({ 'a.txt': 'later\n' });
      const before = stateOf(repository);
      const { recovery } = await runtime.call<Saved>('save_state');
      repository.commit({ 'c.txt': 'three\n' }, 'first');
      repository.write({ 'b.txt': 'changed\n' });
      const done = await runtime.call<Recovered>('git_recover', { recovery });
      assert.equal(done.head, null);
      assert.equal(done.branch, 'main');
      assert.deepEqual(stateOf(repository), before);
      await runtime.call<Recovered>('git_recover', { recovery: bare.recovery });
      assert.equal(existsSync(repository.path('.git/index')), false);
      assert.deepEqual(Object.keys(filesOf(repository.folder)), ['b.txt'], 'untracked, so it stays');
      await runtime.call<Recovered>('git_recover', { recovery: done.recovery });
      assert.equal(repository.git('log', '-1', '--format=%s').trim(), 'first');
    }));

  test('a detached HEAD, and a conflict that is half resolved [S0-51] (deep)', () =>
    withRepository({ files: { 'a.txt': 'base\n', 'b.txt': 'base\n' }, tools }, async (repository, runtime) => {
      repository.git('switch', '--quiet', '-c', 'side');
      repository.commit({ 'a.txt': 'side\n', 'b.txt': 'side\n' });
      repository.git('switch', '--quiet', '--detach', 'main');
      repository.commit({ 'a.txt': 'mine\n', 'b.txt': 'mine\n' });
      assert.equal(repository.gitCode('merge', 'side'), 1);
      repository.write({ 'a.txt': 'resolved\n', 'b.txt': 'half <<<<\n' });
      repository.git('add', 'a.txt');
      const before = stateOf(repository);
      const { recovery } = await runtime.call<Saved>('save_state');
      repository.git('merge', '--abort');
      repository.git('switch', '--quiet', 'main');
      repository.git('branch', '--quiet', '-D', 'side');
      execFileSync('git', ['-c', 'gc.reflogExpire=now', 'gc', '--quiet', '--prune=now'], { cwd: repository.folder });
      await runtime.call<Recovered>('git_recover', { recovery });
      assert.deepEqual(stateOf(repository), { ...before, branches: stateOf(repository).branches });
      assert.equal(repository.git('cat-file', '-p', ':2:b.txt'), 'mine\n');
      repository.git('add', 'b.txt');
      repository.git('commit', '--quiet', '--no-edit');
      assert.equal(repository.git('rev-list', '--parents', '-1', 'HEAD').trim().split(' ').length, 3);
    }));

  test('a rebase that stands still is put back with its plan [S0-51] (deep)', () =>
    withRepository({ files: { 'a.txt': 'base\n' }, tools }, async (repository, runtime) => {
      repository.git('switch', '--quiet', '-c', 'side');
      repository.commit({ 'a.txt': 'side\n' }, 'one');
      repository.commit({ 'b.txt': 'side\n' }, 'two');
      repository.git('switch', '--quiet', 'main');
      repository.commit({ 'a.txt': 'mine\n' });
      assert.equal(repository.gitCode('rebase', 'main', 'side'), 1);
      const before = stateOf(repository);
      const { recovery } = await runtime.call<Saved>('save_state');
      repository.git('rebase', '--abort');
      repository.commit({ 'a.txt': 'again\n' });
      await runtime.call<Recovered>('git_recover', { recovery });
      assert.deepEqual(stateOf(repository), before);
      repository.write({ 'a.txt': 'both\n' });
      repository.git('add', 'a.txt');
      repository.git('rebase', '--continue');
      assert.equal(repository.git('log', '-2', '--format=%s'), 'two\none\n');
    }));

  test('ends of lines come back as they were, clean files among them, whatever attributes say [S0-51] (deep)', () =>
    withRepository(
      {
        files: {
          '.gitattributes': '*.txt text eol=crlf\n*.lf text eol=lf\n*.any text\n',
          'a.txt': 'one\r\ntwo\r\n',
          'b.any': 'one\n',
          'c.lf': 'one\n',
          'd.txt': 'x\r\n',
        },
        tools,
      },
      async (repository, runtime) => {
        repository.git('switch', '--quiet', '-c', 'side');
        const target = repository.commit({ 'a.txt': 'other\r\n', 'b.any': 'other\n', 'c.lf': 'other\n' });
        repository.git('switch', '--quiet', 'main');
        repository.write({
          'a.txt': 'one\ntwo\n',
          'b.any': 'one\r\n',
          'c.lf': 'one\r\n',
          'd.txt': 'mixed\r\nends\nof\r',
        });
        repository.git('add', 'a.txt', 'b.any', 'c.lf');
        assert.equal(repository.git('status', '--porcelain').trim(), 'M d.txt', 'git calls the others clean');
        const before = stateOf(repository);
        const { recovery } = await runtime.call<Saved>('save_state', { target });
        repository.git('reset', '--quiet', '--hard', target);
        assert.notDeepEqual(stateOf(repository).files, before.files);
        await runtime.call<Recovered>('git_recover', { recovery });
        assert.deepEqual(stateOf(repository), before);
      },
    ));

  test('names that are no UTF-8, folders that became files and files that became folders [S0-51] (deep)', () =>
    withRepository({ files: { 'x/y': 'inner\n', z: 'file\n' }, tools }, async (repository, runtime) => {
      const raw = Buffer.concat([Buffer.from(`${repository.folder}/`), Buffer.from([0x66, 0xff, 0xfe])]);
      writeFileSync(raw, 'tracked\n');
      repository.git('add', '--all');
      repository.git('commit', '--quiet', '-m', 'raw');
      writeFileSync(raw, 'dirty\r\n');
      chmodSync(raw, 0o755);
      const link = Buffer.concat([Buffer.from(`${repository.folder}/`), Buffer.from([0x6c, 0xff])]);
      symlinkSync('somewhere', link);
      repository.write({ x: null, z: null });
      repository.write({ x: 'a file now\n', 'z/inner': 'a folder now\n' });
      const before = stateOf(repository);
      const { recovery } = await runtime.call<Saved>('save_state');
      repository.git('reset', '--quiet', '--hard');
      repository.git('clean', '--quiet', '-fdx');
      await runtime.call<Recovered>('git_recover', { recovery });
      assert.deepEqual(stateOf(repository), before);
    }));

  test('what going back writes over is saved first, ignored files too [S0-51] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n', '.gitignore': '*.env\n' }, tools }, async (repository, runtime) => {
      repository.write({ 'x.env': 'tracked once\n' });
      repository.git('add', '--force', 'x.env');
      repository.commit({});
      const { recovery } = await runtime.call<Saved>('save_state');
      repository.git('rm', '--quiet', '--cached', 'x.env');
      repository.commit({});
      repository.write({ 'x.env': 'precious\n', 'a.txt': null, 'a.txt/in.env': 'precious too\n' });
      const before = stateOf(repository);
      const done = await runtime.call<Recovered>('git_recover', { recovery });
      assert.deepEqual(filesOf(repository.folder), {
        'a.txt': '644 one\n',
        '.gitignore': '644 *.env\n',
        'x.env': '644 tracked once\n',
      });
      await runtime.call<Recovered>('git_recover', { recovery: done.recovery });
      assert.deepEqual(stateOf(repository).files, before.files);
    }));

  test('belongs to its work tree: a linked one has its own [S0-51] (deep)', async () => {
    const repository = createRepository({ files: { 'a.txt': 'one\n' } });
    const place = join(repository.beside, 'linked');
    repository.git('worktree', 'add', '--quiet', '-b', 'linked', place);
    const linked = openRepository(place, repository.beside);
    const [here, there] = await Promise.all([openGitRuntime(repository, { tools }), openGitRuntime(linked, { tools })]);
    try {
      linked.write({ 'a.txt': 'dirty\n', 'new.txt': 'new\n' });
      const before = stateOf(linked);
      const saved = await there.call<Saved>('save_state');
      linked.commit({ 'a.txt': 'later\n' });
      const error = await here.refused('git_recover', { recovery: saved.recovery });
      assert.equal(error.details?.['reason'], 'another_worktree');
      assert.equal((await here.refused('git_recover')).details?.['reason'], 'unknown_recovery');
      await there.call<Recovered>('git_recover', { recovery: saved.recovery });
      assert.deepEqual(stateOf(linked), before);
      assert.equal(repository.git('status', '--porcelain'), '');
    } finally {
      await Promise.all([here.dispose(), there.dispose()]);
      repository.dispose();
    }
  });

  test('a branch that is at work in another work tree is not moved [S0-51]', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      const { recovery } = await runtime.call<Saved>('save_state');
      repository.git('switch', '--quiet', '-c', 'other');
      const place = join(repository.beside, 'linked');
      repository.git('worktree', 'add', '--quiet', place, 'main');
      assert.equal((await runtime.refused('git_recover', { recovery })).details?.['reason'], 'branch_in_use');
      repository.git('worktree', 'remove', place);
      assert.equal((await runtime.call<Recovered>('git_recover', { recovery })).branch, 'main');
    }));

  test('works in a repository with SHA-256 hashes and with a split index [S0-51] (deep)', async () => {
    for (const objectFormat of ['sha1', 'sha256'] as const) {
      await withRepository({ files: EVERYTHING, tools, objectFormat }, async (repository, runtime) => {
        repository.git('update-index', '--split-index');
        makeDirty(repository);
        const before = stateOf(repository);
        const { recovery } = await runtime.call<Saved>('save_state');
        repository.git('update-index', '--no-split-index');
        repository.git('reset', '--quiet', '--hard');
        repository.git('clean', '--quiet', '-fd');
        await runtime.call<Recovered>('git_recover', { recovery });
        assert.deepEqual(stateOf(repository), before);
      });
    }
  });

  test('sparse work trees, submodules and shallow clones [S0-51] (deep)', async () => {
    const other = createRepository({ files: { 'lib.txt': 'lib\n' } });
    const source = createRepository({ files: { 'in/a.txt': 'one\n', 'out/b.txt': 'one\n', 'top.txt': 'one\n' } });
    source.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other.folder, 'lib');
    source.commit({ 'in/a.txt': 'two\n' });
    const place = join(source.beside, 'clone');
    source.git('clone', '--quiet', '--depth=1', `file://${source.folder}`, place);
    const clone = openRepository(place, source.beside);
    clone.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'update', '--init');
    clone.git('sparse-checkout', 'set', 'in');
    const runtime = await openGitRuntime(clone, { tools });
    try {
      clone.write({ 'in/a.txt': 'dirty\n', 'top.txt': 'staged\n', 'lib/lib.txt': 'dirty inside\n', 'lib/new': 'x\n' });
      clone.git('add', 'top.txt');
      const before = stateOf(clone);
      assert.equal('out/b.txt' in before.files, false);
      const saved = await runtime.call<Saved>('save_state');
      assert.deepEqual(saved.details['paths'], ['in/a.txt', 'top.txt']);
      clone.git('reset', '--quiet', '--hard');
      await runtime.call<Recovered>('git_recover', { recovery: saved.recovery });
      assert.deepEqual(stateOf(clone), before);
    } finally {
      await runtime.dispose();
      source.dispose();
      other.dispose();
    }
  });

  test('brings back what fs_delete and fs_move took away, and neither branch nor index moves [S0-51]', () =>
    withRepository(
      { files: { 'src/a.txt': 'a\n', 'b.txt': 'b\n', '.gitignore': 'out\n' } },
      async (repository, runtime) => {
        repository.write({ 'src/a.txt': 'changed\n', 'src/new.txt': 'new\n', 'out/x.txt': 'made\n' });
        repository.git('add', 'src/a.txt');
        const deleted = await runtime.call<Saved>('fs_delete', { path: 'src', recursive: true });
        repository.git('commit', '--quiet', '--allow-empty', '-m', 'feat: since');
        const head = repository.git('rev-parse', 'HEAD').trim();
        const index = readFileSync(repository.path('.git/index'));
        const done = await runtime.call<Recovered & { from: string; dropped: string[] }>('git_recover');
        assert.deepEqual([done.from, done.head, done.dropped], [deleted.recovery, head, []]);
        assert.equal(readFileSync(repository.path('src/a.txt'), 'utf8'), 'changed\n');
        assert.equal(readFileSync(repository.path('src/new.txt'), 'utf8'), 'new\n');
        assert.equal(repository.git('rev-parse', 'HEAD').trim(), head, 'the commit made since is kept');
        assert.deepEqual(readFileSync(repository.path('.git/index')), index);
        const ignored = await runtime.call<Partial<Saved>>('fs_delete', { path: 'out', recursive: true });
        assert.equal(ignored.recovery, undefined, 'what is ignored can be made again');
        const moved = await runtime.call<Saved>('fs_move', { src: 'src/new.txt', dst: 'b.txt', overwrite: true });
        assert.equal(readFileSync(repository.path('b.txt'), 'utf8'), 'new\n');
        const back = await runtime.call<Recovered>('git_recover', { recovery: moved.recovery });
        assert.equal(readFileSync(repository.path('b.txt'), 'utf8'), 'b\n');
        await runtime.call('git_recover', { recovery: back.recovery });
        assert.equal(readFileSync(repository.path('b.txt'), 'utf8'), 'new\n', 'going back can be undone');
      },
    ));

  test('without a name it drops no commit that only the moved branch has, and says which [S0-51]', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      const { recovery } = await runtime.call<Saved>('save_state');
      repository.commit({ 'a.txt': 'two\n' }, 'feat: two');
      const refused = await runtime.refused('git_recover');
      assert.match(JSON.stringify(refused.details?.['dropped']), /feat: two/);
      assert.match(String(refused.details?.['next']), new RegExp(recovery));
      repository.git('branch', 'kept');
      const done = await runtime.call<Recovered & { dropped: string[] }>('git_recover');
      assert.deepEqual([done.restored, done.dropped], [true, []], 'another branch has it');
      assert.equal(readFileSync(repository.path('a.txt'), 'utf8'), 'one\n');
    }));

  test('lists the points there are, newest first, and keeps a hundred [S0-51] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      repository.write({ 'b.txt': 'new\n' });
      const { recovery: first } = await runtime.call<Saved>('save_state');
      let last = first;
      for (let made = 0; made < 120; made++) last = (await runtime.call<Saved>('save_state')).recovery;
      const { recoveries, restored } = await runtime.call<Recovered>('git_recover', { list: true });
      assert.equal(restored, false);
      assert.ok(recoveries.length >= 100 && recoveries.length <= 120, String(recoveries.length));
      assert.equal(recoveries[0]?.recovery, last);
      assert.equal(recoveries[0]?.verb, 'merge');
      assert.equal(recoveries[0]?.files, 1);
      assert.ok(!recoveries.some(({ recovery }) => recovery === first), 'the oldest went');
      const error = await runtime.refused('git_recover', { recovery: first });
      assert.equal(error.details?.['reason'], 'unknown_recovery');
    }));

  test('a file too large to save is named; going back over it is refused [S0-51]', () =>
    withRepository({ files: { 'a.txt': 'one\n', 'huge.bin': 'small\n' }, tools }, async (repository, runtime) => {
      const { recovery } = await runtime.call<Saved>('save_state');
      repository.write({ 'a.txt': 'two\n' });
      for (const name of ['huge.bin', 'untracked.bin']) truncateSync(opened(repository.path(name)), 65 * 1024 * 1024);
      const response = await runtime.ask('save_state');
      assert.ok(response.ok);
      assert.equal(response.warnings[0]?.details?.['reason'], 'not_saved');
      assert.deepEqual(response.warnings[0]?.details?.['paths'], ['huge.bin', 'untracked.bin']);
      const error = await runtime.refused('git_recover', { recovery });
      assert.equal(error.path, 'huge.bin');
      repository.git('checkout', '--quiet', 'huge.bin');
      await runtime.call<Recovered>('git_recover', { recovery });
      assert.equal(readFileSync(repository.path('a.txt'), 'utf8'), 'one\n');
      assert.ok(existsSync(repository.path('untracked.bin')), 'what was not touched stays');
    }));

  test('large files are saved without holding them, and a nested repository is left alone [S0-51]', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      const large = Buffer.alloc(9 * 1024 * 1024, 'large\r\n');
      repository.write({ 'large.bin': large });
      mkdirSync(repository.path('nested'));
      execFileSync('git', ['init', '--quiet', repository.path('nested')]);
      writeFileSync(repository.path('nested/file'), 'theirs');
      const saved = await runtime.call<Saved>('save_state');
      assert.deepEqual(saved.details['skipped'], [{ path: 'nested/', size: 0, reason: 'repository' }]);
      repository.write({ 'large.bin': 'gone' });
      await runtime.call<Recovered>('git_recover', { recovery: saved.recovery });
      assert.ok(readFileSync(repository.path('large.bin')).equals(large));
      assert.equal(readFileSync(repository.path('nested/file'), 'utf8'), 'theirs');
    }));

  test('takes locks a killed git left, says so, and leaves those alone that go by themselves [S0-51] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      repository.write({ 'a.txt': 'dirty\n' });
      const { recovery } = await runtime.call<Saved>('save_state');
      repository.git('checkout', '--quiet', 'a.txt');
      repository.write({ '.git/index.lock': '', '.git/refs/heads/main.lock': '' });
      const response = await runtime.ask('git_recover', { recovery });
      assert.ok(response.ok, JSON.stringify(response.errors));
      assert.equal(response.warnings[0]?.details?.['reason'], 'left_over_lock');
      assert.equal(readFileSync(repository.path('a.txt'), 'utf8'), 'dirty\n');
      repository.write({ '.git/index.lock': '' });
      setTimeout(() => rmSync(repository.path('.git/index.lock')), 300);
      const patient = await runtime.ask('git_recover', { recovery });
      assert.ok(patient.ok);
      assert.deepEqual(patient.warnings, []);
    }));

  test('takes locks a killed git left where nothing was saved yet, and says so; without any there is nothing to do [S0-51] (deep)', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      repository.write({ '.git/index.lock': '', '.git/refs/heads/main.lock': '', 'a.txt': 'two\n' });
      const response = await runtime.ask('git_recover');
      assert.ok(response.ok, JSON.stringify(response.errors));
      assert.equal((response.data as { readonly restored: boolean }).restored, false);
      assert.equal(response.warnings[0]?.details?.['reason'], 'left_over_lock');
      assert.equal(readFileSync(repository.path('a.txt'), 'utf8'), 'two\n');
      await runtime.call('git_add', { paths: ['a.txt'] });
      assert.equal((await runtime.refused('git_recover')).details?.['reason'], 'unknown_recovery');
    }));

  test('refuses invalid names of recovery points, and other commits [S0-51]', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      for (const recovery of [
        'HEAD',
        '--help',
        'refs/heads/main',
        'refs/tool-runtime/recovery/x',
        '',
        'x\ny',
        'x\0y',
      ]) {
        assert.equal(
          (await runtime.refused('git_recover', { recovery })).details?.['reason'],
          'bad_recovery',
          recovery,
        );
      }
      const forged = 'refs/tool-runtime/recovery/20260101T000000000Z-000000000000';
      repository.git('update-ref', forged, 'HEAD');
      assert.equal((await runtime.refused('git_recover', { recovery: forged })).code, 'E_GIT');
      assert.deepEqual((await runtime.call<Recovered>('git_recover', { list: true })).recoveries, []);
      const { recovery } = await runtime.call<Saved>('save_state');
      assert.ok((await runtime.call<Recovered>('git_recover', { recovery })).restored);
    }));

  test('a forged point cannot write into git’s own folder or out of the work tree [S0-51]', () =>
    withRepository({ files: { 'a.txt': 'one\n' }, tools }, async (repository, runtime) => {
      const { recovery } = await runtime.call<Saved>('save_state');
      const note = repository.git('log', '-1', '--format=%B', recovery);
      const canary = repository.gitBytes(['hash-object', '-w', '--stdin'], 'owned\n').toString('utf8').trim();
      const manifest = repository
        .gitBytes(['hash-object', '-w', '--stdin'], 'D - ../outside\0')
        .toString('utf8')
        .trim();
      const hooks = `040000 tree ${tree(repository, `100755 blob ${canary}\tpre-commit`)}\thooks`;
      const inner = `040000 tree ${tree(repository, `100755 blob ${canary}\tx`)}\trebase-merge`;
      const state = tree(repository, `${hooks}\n${inner}\n100644 blob ${canary}\tconfig`);
      const root = tree(repository, `040000 tree ${state}\tstate\n100644 blob ${manifest}\tmanifest`);
      writeFileSync(join(repository.beside, 'outside'), 'kept');
      const commit = repository.gitBytes(['commit-tree', root], note).toString('utf8').trim();
      const forged = 'refs/tool-runtime/recovery/20990101T000000000Z-000000000000';
      repository.git('update-ref', forged, commit);
      const config = readFileSync(repository.path('.git/config'), 'utf8');
      await runtime.ask('git_recover', { recovery: forged });
      assert.equal(existsSync(repository.path('.git/hooks/pre-commit')), false);
      assert.equal(readFileSync(repository.path('.git/config'), 'utf8'), config);
      assert.equal(readFileSync(join(repository.beside, 'outside'), 'utf8'), 'kept');
    }));
});

function tree(repository: ReturnType<typeof createRepository>, lines: string): string {
  return repository.gitBytes(['mktree'], `${lines}\n`).toString('utf8').trim();
}

function opened(path: string): string {
  closeSync(openSync(path, 'a'));
  return path;
}
