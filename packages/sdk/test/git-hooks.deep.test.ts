/** Hooks of husky, of core.hooksPath and of .git/hooks in the sandbox, and what a hostile one cannot do there. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { createRepository, type GitRuntime, openGitRuntime, type TestRepository } from './git-repository.ts';

const HOOKS = 'version: 1\ngit: {hooks: sandboxed, allow_push: true}\n';

function plant(repository: TestRepository, name: string, script: string, folder = '.git/hooks'): void {
  const file = repository.path(join(folder, name));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

async function withHooks(
  use: (repository: TestRepository, runtime: GitRuntime) => Promise<void>,
  registry = HOOKS,
): Promise<void> {
  const repository = createRepository({ files: { 'a.txt': 'one\n', 'b.txt': 'one\n' } });
  const runtime = await openGitRuntime(repository, { registry });
  try {
    repository.write({ 'a.txt': 'two\n' });
    repository.git('add', 'a.txt');
    await use(repository, runtime);
  } finally {
    await runtime.dispose();
    repository.dispose();
  }
}

describe('hooks of the repository', () => {
  test('husky: a failing pre-commit refuses the commit with its output, a passing one is reported [S0-45]', () =>
    withHooks(async (repository, runtime) => {
      // As husky 9 lays them out: a shim per hook, which runs the file of the project.
      plant(repository, 'pre-commit', '. "$(dirname "$0")/h"', '.husky/_');
      writeFileSync(
        repository.path('.husky/_/h'),
        's=$(dirname "$(dirname "$0")")/$(basename "$0")\n[ ! -f "$s" ] && exit 0\nsh -e "$s" "$@"\n',
      );
      repository.git('config', 'core.hooksPath', '.husky/_');
      writeFileSync(repository.path('.husky/pre-commit'), 'echo lint: a.txt is wrong\nexit 1\n');
      const before = repository.git('rev-parse', 'HEAD');
      const refused = await runtime.refused('git_commit', { message: 'fix: a' });
      assert.deepEqual(
        [refused.code, refused.details?.['reason'], refused.details?.['hook']],
        ['E_POLICY', 'hook_failed', 'pre-commit'],
      );
      assert.match(String(refused.details?.['output']), /a\.txt is wrong/);
      assert.equal(repository.git('rev-parse', 'HEAD'), before);
      writeFileSync(repository.path('.husky/pre-commit'), 'git diff --cached --name-only\n');
      const { ok, warnings } = await runtime.ask('git_commit', { message: 'fix: a' });
      assert.ok(ok);
      assert.match(JSON.stringify(warnings), /"output":"a\.txt\\n"/, 'the hook sees what is staged');
    }));

  test('commit-msg and prepare-commit-msg may change the message, and refuse it [S0-45]', () =>
    withHooks(async (repository, runtime) => {
      plant(repository, 'prepare-commit-msg', 'printf "ABC-1 " > /tmp/x; cat "$1" >> /tmp/x; cp /tmp/x "$1"');
      plant(repository, 'commit-msg', 'grep -q "^ABC-1 fix: " "$1" || { echo no type; exit 3; }');
      const refused = await runtime.refused('git_commit', { message: 'wrong' });
      assert.deepEqual([refused.details?.['hook'], refused.details?.['exit_code']], ['commit-msg', 3]);
      await runtime.call('git_commit', { message: 'fix: a\n\nBody' });
      assert.equal(repository.git('log', '-1', '--format=%B').trim(), 'ABC-1 fix: a\n\nBody');
    }));

  test('a hook that changes tracked files refuses the commit; what it stages is not committed [S0-45]', () =>
    withHooks(async (repository, runtime) => {
      plant(repository, 'pre-commit', 'echo formatted > a.txt; git add a.txt');
      const refused = await runtime.refused('git_commit', { message: 'fix: a' });
      assert.deepEqual([refused.details?.['reason'], refused.details?.['paths']], ['hook_changed_files', ['a.txt']]);
      assert.equal(repository.git('show', ':a.txt'), 'two\n', 'the index is as it was');
      await runtime.call('git_add', { paths: ['a.txt'] });
      await runtime.call('git_commit', { message: 'fix: a' });
      assert.equal(repository.git('show', 'HEAD:a.txt'), 'formatted\n');
    }));

  test('pre-push refuses a push, and sees what is pushed where [S0-49]', () =>
    withHooks(async (repository, runtime) => {
      const bare = join(repository.beside, 'remote.git');
      repository.git('init', '--quiet', '--bare', bare);
      repository.git('remote', 'add', 'origin', bare);
      plant(repository, 'pre-push', 'echo "$1 $(cat)"; exit 1');
      const refused = await runtime.refused('git_push');
      assert.equal(refused.details?.['hook'], 'pre-push');
      const head = repository.git('rev-parse', 'HEAD').trim();
      assert.match(
        String(refused.details?.['output']),
        new RegExp(`^origin refs/heads/main ${head} refs/heads/main 0+`),
      );
      assert.equal(repository.git('--git-dir', bare, 'for-each-ref'), '');
      plant(repository, 'pre-push', 'exit 0');
      await runtime.call('git_push');
    }));

  test('post-commit runs in the sandbox after the commit; its failure is a warning and the commit stays [S0-45]', () =>
    withHooks(async (repository, runtime) => {
      plant(repository, 'post-commit', 'git log -1 --format=%s > seen.txt; touch .git/canary; echo told; exit 4');
      const { ok, warnings } = await runtime.ask('git_commit', { message: 'fix: a' });
      assert.ok(ok);
      assert.equal(repository.git('log', '-1', '--format=%s').trim(), 'fix: a');
      assert.equal(readFileSync(repository.path('seen.txt'), 'utf8'), 'fix: a\n');
      assert.match(JSON.stringify(warnings), /After the commit: Hook refused: post-commit.*"exit_code":4/);
      assert.ok(!existsSync(repository.path('.git/canary')), '.git is read-only for it');
      plant(repository, 'post-commit', 'exit 0');
      const quiet = await runtime.ask('git_commit', { message: 'fix: b', allow_empty: true });
      assert.deepEqual([quiet.ok, quiet.warnings], [true, []]);
    }));

  test('are off by default, and core.hooksPath is reported as not used [S0-51]', () =>
    withHooks(async (repository, runtime) => {
      plant(repository, 'pre-commit', 'touch canary; exit 1', '.husky');
      repository.git('config', 'core.hooksPath', '.husky');
      const { ok, warnings } = await runtime.ask('git_commit', { message: 'fix: a' });
      assert.ok(ok);
      assert.match(JSON.stringify(warnings), /core\.hookspath/);
      assert.ok(!existsSync(repository.path('canary')));
    }, 'version: 1\n'));
});

describe('a hostile hook', () => {
  test('changes nothing in .git, nothing outside, reaches no network and no secret, and is not followed elsewhere [S0-51]', async () => {
    const hits: string[] = [];
    const server = createServer((request, response) => {
      hits.push(request.url ?? '');
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    process.env['HOOK_TEST_TOKEN'] = 'hook-secret-value';
    try {
      await withHooks(async (repository, runtime) => {
        const outside = join(repository.beside, 'outside');
        writeFileSync(outside, 'as it was\n');
        const config = readFileSync(repository.path('.git/config'), 'utf8');
        plant(
          repository,
          'pre-commit',
          [
            `echo evil > '${outside}'`,
            'echo evil >> .git/config',
            'echo evil > .git/hooks/post-checkout',
            'git update-ref refs/heads/evil HEAD',
            'git config core.fsmonitor evil',
            `python3 -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:${port}/x')"`,
            'env',
            'exit 0',
          ].join('\n'),
        );
        const { ok, warnings } = await runtime.ask('git_commit', { message: 'fix: a' });
        assert.ok(ok, 'the commit itself is fine');
        assert.doesNotMatch(JSON.stringify(warnings), /hook-secret-value/);
        assert.equal(readFileSync(outside, 'utf8'), 'as it was\n');
        assert.equal(readFileSync(repository.path('.git/config'), 'utf8'), config);
        assert.ok(!existsSync(repository.path('.git/hooks/post-checkout')));
        assert.equal(repository.git('for-each-ref', 'refs/heads/evil'), '');
        assert.deepEqual(hits, []);
      });
    } finally {
      delete process.env['HOOK_TEST_TOKEN'];
      server.close();
    }
  });

  test('outside the workspace does not run, and none runs where there is no sandbox [S0-51]', async () => {
    await withHooks(async (repository, runtime) => {
      for (const folder of [join(repository.beside, 'hooks'), '../hooks', '~/hooks']) {
        repository.git('config', 'core.hooksPath', folder);
        const { ok, warnings } = await runtime.ask('git_commit', { message: 'chore: x', allow_empty: true });
        assert.ok(ok);
        assert.match(JSON.stringify(warnings), /hooks_outside/);
      }
    });
    await withHooks(async (_, runtime) => {
      assert.equal((await runtime.refused('git_commit', { message: 'fix: a' })).details?.['reason'], 'no_sandbox');
    }, `${HOOKS}isolation: none\n`);
  });
});
