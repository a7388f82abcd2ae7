import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { createRepository, openRepository, type TestRepository } from '../../../test/git-repository.ts';
import { loadRegistry } from '../../registry/load-registry.ts';
import { createSessionPrograms } from '../commands/session-programs.ts';

const KNOWN = { rules: new Map(), tools: undefined, engines: new Set<'ast'>(), file: 'ops.yaml' };

async function withGit<T>(
  folder: string,
  registry: string,
  use: (git: ReturnType<typeof createSessionPrograms>['git']) => Promise<T>,
): Promise<T> {
  const state = mkdtempSync(join(tmpdir(), 'tool-runtime-git-state-'));
  const programs = createSessionPrograms({
    workspace: folder,
    state,
    registry: loadRegistry(`version: 1\n${registry}`, KNOWN),
    actor: 'test',
    governing: [],
  });
  try {
    return await use(programs.git);
  } finally {
    await programs.close();
    rmSync(state, { recursive: true, force: true });
  }
}

/** What a verb answers does not matter here. */
const ANY_CODE = [0, 1, 2, 128, 129];
const STATUS = { words: ['status', '--porcelain=v2', '-z'], access: 'read' } as const;

/** Key → value that runs `program`, and the plain git command that proves it. */
interface Attack {
  readonly key: string;
  readonly value: (program: string) => string;
  readonly attributes?: string;
  readonly control: readonly string[];
}

const ATTACKS: readonly Attack[] = [
  { key: 'core.fsmonitor', value: (program) => program, control: ['status'] },
  {
    key: 'core.hooksPath',
    value: (program) => join(program, '..', 'hooks'),
    control: ['commit', '--allow-empty', '-m', 'x'],
  },
  { key: 'filter.evil.clean', value: (program) => program, attributes: '* filter=evil\n', control: ['add', '.'] },
  {
    key: 'filter.evil.smudge',
    value: (program) => program,
    attributes: '* filter=evil\n',
    control: ['checkout', '-f', 'HEAD', '--', 'a.txt'],
  },
  { key: 'filter.evil.process', value: (program) => program, attributes: '* filter=evil\n', control: ['add', '.'] },
  { key: 'diff.external', value: (program) => program, control: ['diff', 'HEAD'] },
  { key: 'diff.evil.command', value: (program) => program, attributes: '* diff=evil\n', control: ['diff', 'HEAD'] },
  { key: 'diff.evil.textconv', value: (program) => program, attributes: '* diff=evil\n', control: ['diff', 'HEAD'] },
  { key: 'merge.evil.driver', value: (program) => program, attributes: '* merge=evil\n', control: ['merge', 'other'] },
  { key: 'core.editor', value: (program) => program, control: ['commit', '--allow-empty'] },
  { key: 'gpg.program', value: (program) => program, control: ['commit', '--allow-empty', '-S', '-m', 'x'] },
  { key: 'core.sshCommand', value: (program) => program, control: ['fetch', 'ssh://nowhere.invalid/x'] },
  { key: 'core.gitProxy', value: (program) => program, control: ['fetch', 'git://nowhere.invalid/x'] },
  { key: 'remote.origin.uploadpack', value: (program) => program, control: ['fetch', 'origin'] },
  { key: 'remote.origin.receivepack', value: (program) => program, control: ['push', 'origin', 'HEAD'] },
  { key: 'credential.helper', value: (program) => `!${program}`, control: ['credential', 'fill'] },
  { key: 'core.askPass', value: (program) => program, control: ['credential', 'fill'] },
  { key: 'sequence.editor', value: (program) => program, control: ['rebase', '-i', '--autostash', 'HEAD~1'] },
];

function hostileRepository(): TestRepository & { readonly program: string; readonly canary: string } {
  const repository = createRepository({ files: { 'a.txt': 'one\n', 'b.txt': 'b\n' } });
  repository.git('switch', '-q', '-c', 'other');
  repository.commit({ 'a.txt': 'other\n' }, 'feat: other');
  repository.git('switch', '-q', 'main');
  repository.commit({ 'a.txt': 'two\n' }, 'feat: two');
  repository.write({ 'a.txt': 'three\n' });
  repository.git('remote', 'add', 'origin', join(repository.beside, 'remote.git'));
  repository.git('init', '-q', '--bare', join(repository.beside, 'remote.git'));
  // Inside the work tree: what lies outside could not be started in the sandbox anyway.
  const program = repository.path('evil/run.sh');
  const canary = repository.path('canary');
  mkdirSync(repository.path('evil/hooks'), { recursive: true });
  const script = `#!/bin/sh\ntouch '${canary}'\ncat >/dev/null 2>&1 </dev/null\nexit 1\n`;
  for (const file of [
    program,
    repository.path('evil/hooks/post-commit'),
    repository.path('evil/hooks/post-index-change'),
  ]) {
    writeFileSync(file, script);
    chmodSync(file, 0o755);
  }
  return { ...repository, program, canary };
}

describe('repositories whose configuration runs programs [S0-51]', () => {
  for (const { key, value, attributes, control } of ATTACKS) {
    test(`${key} is overridden, reported once and starts nothing, although plain git starts it [S0-51] (deep)`, async () => {
      const repository = hostileRepository();
      try {
        if (attributes !== undefined) repository.write({ '.gitattributes': attributes });
        await withGit(repository.folder, '', async (git) => {
          await git.run(STATUS);
          assert.deepEqual(git.takeNotices(), [], 'nothing to report yet');
        });
        repository.git('config', key, value(repository.program));
        const env = {
          PATH: process.env['PATH'],
          HOME: repository.beside,
          GIT_CONFIG_NOSYSTEM: '1',
          GIT_SSH_VARIANT: 'simple',
          GIT_TERMINAL_PROMPT: '0',
        };
        const input = 'protocol=https\nhost=nowhere.invalid\n\n';
        spawnSync('git', control, { cwd: repository.folder, env, input, timeout: 120_000 });
        assert.ok(existsSync(repository.canary), `control: plain git ${control.join(' ')} runs the program`);
        rmSync(repository.canary);
        for (const words of [
          ['rebase', '--quit'],
          ['merge', '--quit'],
        ])
          repository.gitCode(...words);
        await withGit(repository.folder, '', async (git) => {
          await git.run({ words: control, access: 'write', stdin: input, accept: ANY_CODE, env: WHO });
          await git.run({ words: ['add', '--', ':(top)'], access: 'write' });
          const [notice, ...others] = git.takeNotices();
          assert.deepEqual(others, []);
          assert.equal(notice?.details?.['reason'], 'settings_not_used');
          assert.match(notice.message.toLowerCase(), new RegExp(key.toLowerCase().replaceAll('.', '\\.')));
          await git.run(STATUS);
          assert.deepEqual(git.takeNotices(), [], 'reported once');
        });
        assert.ok(!existsSync(repository.canary), 'nothing ran');
      } finally {
        repository.dispose();
      }
    });
  }

  test('hooks in their usual folder do not run either [S0-51]', async () => {
    const repository = hostileRepository();
    try {
      for (const hook of ['pre-commit', 'post-commit', 'post-index-change', 'reference-transaction']) {
        writeFileSync(repository.path(`.git/hooks/${hook}`), `#!/bin/sh\ntouch '${repository.canary}'\n`);
        chmodSync(repository.path(`.git/hooks/${hook}`), 0o755);
      }
      repository.git('add', 'a.txt');
      assert.ok(existsSync(repository.canary), 'control: plain git runs them');
      rmSync(repository.canary);
      await withGit(repository.folder, '', async (git) => {
        await git.run({ words: ['add', '--', ':(top)'], access: 'write' });
        await git.run({ words: ['commit', '-q', '-m', 'x'], access: 'write' });
      });
      assert.ok(!existsSync(repository.canary));
    } finally {
      repository.dispose();
    }
  });

  test('a key the operator lists takes effect, and only that one [S0-51] (deep)', async () => {
    const repository = hostileRepository();
    try {
      repository.write({ '.gitattributes': '*.up filter=shout\n', 'x.up': 'quiet\n' });
      repository.git('config', 'filter.shout.clean', 'tr a-z A-Z');
      const staged = await withGit(repository.folder, "git:\n  allow_config: ['filter.shout.*']\n", async (git) => {
        await git.run({ words: ['add', '--', 'x.up'], access: 'write' });
        return (await git.run({ words: ['cat-file', 'blob', ':x.up'], access: 'read' })).stdout.toString();
      });
      assert.equal(staged, 'QUIET\n');
      repository.git('config', 'core.fsmonitor', repository.program);
      await withGit(repository.folder, "git:\n  allow_config: ['filter.shout.*']\n", async (git) => {
        await git.run(STATUS);
        assert.match(git.takeNotices()[0]?.message ?? '', /core\.fsmonitor\.$/);
      });
      assert.ok(!existsSync(repository.canary));
    } finally {
      repository.dispose();
    }
  });

  test('what a listed include brings in is judged like the rest [S0-51] (deep)', async () => {
    const repository = hostileRepository();
    const registry = "git:\n  allow_config: ['include.path']\n";
    try {
      repository.write({ '.git/more': '[user]\n\tname = Included\n' });
      repository.git('config', 'include.path', 'more');
      await withGit(repository.folder, registry, (git) => git.run(STATUS));
      repository.write({ '.git/more': '[http]\n\tproxy = http://nowhere.invalid\n' });
      await assert.rejects(
        withGit(repository.folder, registry, (git) => git.run(STATUS)),
        /http\.proxy/,
      );
      repository.write({ '.git/more': `[filter "evil"]\n\tclean = ${repository.program}\n` });
      repository.write({ '.gitattributes': '* filter=evil\n' });
      await withGit(repository.folder, registry, (git) => git.run({ words: ['add', '--', ':(top)'], access: 'write' }));
      assert.ok(!existsSync(repository.canary));
    } finally {
      repository.dispose();
    }
  });

  test('a key that arrives between two calls is noticed, and so is its removal [S0-51]', async () => {
    const repository = hostileRepository();
    try {
      await withGit(repository.folder, '', async (git) => {
        await git.run(STATUS);
        repository.git('config', 'filter.evil.clean', repository.program);
        repository.write({ '.gitattributes': '* filter=evil\n' });
        await git.run({ words: ['add', '--', ':(top)'], access: 'write' });
        assert.match(git.takeNotices()[0]?.message ?? '', /filter\.evil\.clean/);
        repository.git('config', 'include.path', '../evil/more');
        await assert.rejects(git.run(STATUS), /include\.path/);
        repository.git('config', '--unset', 'include.path');
        await git.run(STATUS);
      });
      assert.ok(!existsSync(repository.canary));
    } finally {
      repository.dispose();
    }
  });
});

describe('where a repository is [S0-42]', () => {
  test('no repository, a link for one, borrowed objects and foreign folders are clear errors [S0-42]', async () => {
    const repository = createRepository({ files: { 'a.txt': 'one\n' } });
    const other = join(repository.beside, 'other');
    mkdirSync(other);
    const reasonOf = (folder: string) =>
      withGit(folder, '', (git) =>
        git.run(STATUS).then(
          () => 'fine',
          (thrown: unknown) => (isToolError(thrown) ? String(thrown.details['reason']) : 'not coded'),
        ),
      );
    try {
      assert.equal(await reasonOf(other), 'no_repository');
      assert.equal(await reasonOf(repository.folder), 'fine');
      mkdirSync(repository.path('below'));
      assert.equal(await reasonOf(repository.path('below')), 'no_repository');
      writeFileSync(join(other, '.git'), `gitdir: ${repository.path('.git')}\n`);
      assert.equal(await reasonOf(other), 'foreign_git_folder', 'a planted file does not lead to another repository');
      writeFileSync(repository.path('.git/objects/info/alternates'), '/tmp\n');
      assert.equal(await reasonOf(repository.folder), 'alternates');
      rmSync(repository.path('.git/objects/info/alternates'));
      writeFileSync(repository.path('.git/commondir'), '.\n');
      assert.equal(await reasonOf(repository.folder), 'commondir');
      rmSync(repository.path('.git/commondir'));
      renameSync(repository.path('.git'), repository.path('store'));
      symlinkSync('store', repository.path('.git'));
      assert.equal(await reasonOf(repository.folder), 'linked_git_folder');
    } finally {
      repository.dispose();
    }
  });

  test('a linked work tree works, and its commits are seen by the main one [S0-42] (deep)', async () => {
    const repository = createRepository({ files: { 'a.txt': 'one\n' } });
    const linked = join(repository.beside, 'linked');
    try {
      repository.git('worktree', 'add', '-q', '-b', 'side', linked);
      const tree = openRepository(linked, repository.beside);
      tree.write({ 'a.txt': 'two\n' });
      await withGit(linked, '', async (git) => {
        const { stdout } = await git.run(STATUS);
        assert.match(stdout.toString(), /a\.txt/);
        await git.run({ words: ['commit', '-q', '-a', '-m', 'x'], access: 'write', env: WHO });
      });
      assert.equal(repository.git('log', '-1', '--format=%s', 'side').trim(), 'x');
      const thief = join(repository.beside, 'thief');
      mkdirSync(thief);
      copyFileSync(join(linked, '.git'), join(thief, '.git'));
      await assert.rejects(
        withGit(thief, '', (git) => git.run(STATUS)),
        /does not name this workspace back/,
      );
      const data = repository.path('.git/worktrees/linked');
      writeFileSync(join(data, 'commondir'), `${repository.beside}\n`);
      await assert.rejects(
        withGit(linked, '', (git) => git.run(STATUS)),
        /does not name this workspace back/,
        'the data of a work tree may not lead git to a folder it does not lie in',
      );
      writeFileSync(join(data, 'commondir'), '../..\n');
      assert.match((await withGit(linked, '', (git) => git.run(STATUS))).stdout.toString(), /^1?/);
    } finally {
      repository.dispose();
    }
  });

  test('nothing of our own environment reaches git, what the run brings does [S0-51]', async (t) => {
    const repository = createRepository({ files: { 'a.txt': 'one\n' } });
    const before = process.env['GIT_AUTHOR_NAME'];
    process.env['GIT_AUTHOR_NAME'] = 'leaked';
    t.after(() => {
      if (before === undefined) delete process.env['GIT_AUTHOR_NAME'];
      else process.env['GIT_AUTHOR_NAME'] = before;
      repository.dispose();
    });
    const author = { words: ['var', 'GIT_AUTHOR_IDENT'], access: 'read', accept: [0, 128] } as const;
    await withGit(repository.folder, '', async (git) => {
      assert.doesNotMatch((await git.run(author)).stdout.toString(), /leaked/);
      assert.match((await git.run({ ...author, env: WHO })).stdout.toString(), /^a <a@example\.org>/);
    });
  });

  test('more output than was asked for is refused or cut, never kept [S0-51]', async () => {
    const repository = createRepository({ files: { 'a.txt': 'x'.repeat(5000) } });
    const blob = { words: ['cat-file', 'blob', 'HEAD:a.txt'], access: 'read' } as const;
    try {
      await withGit(repository.folder, '', async (git) => {
        await assert.rejects(git.run({ ...blob, maxBytes: 100 }), /Git printed more than 100 bytes/);
        const cut = await git.run({ ...blob, maxBytes: 100, overflow: 'cut' });
        assert.deepEqual([cut.stdout.length, cut.isCut], [100, true]);
        assert.equal((await git.run({ ...blob, maxBytes: 5000 })).stdout.length, 5000);
      });
    } finally {
      repository.dispose();
    }
  });

  test('what git reads it cannot write: a read-only run leaves the repository alone [S0-51]', async () => {
    const repository = createRepository({ files: { 'a.txt': 'one\n' } });
    try {
      await withGit(repository.folder, '', async (git) => {
        await assert.rejects(
          git.run({ words: ['update-ref', 'refs/heads/x', 'HEAD'], access: 'read' }),
          /read-only|Read-only/i,
        );
        await git.run({ words: ['update-ref', 'refs/heads/x', 'HEAD'], access: 'write' });
      });
      assert.equal(repository.gitCode('rev-parse', '-q', '--verify', 'refs/heads/x'), 0);
    } finally {
      repository.dispose();
    }
  });
});

const WHO = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.org',
};
