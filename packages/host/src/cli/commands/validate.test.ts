import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { createScratch, runCli, type Scratch } from '../../../test/run-cli.ts';

/** Built from pieces: this file must not hold what a scanner looks for. */
const TOKEN = ['gh', 'p_', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('');
const REGISTRY = 'version: 1\nvalidators:\n  - rule: secrets.scan\n  - rule: commit.message.conventional\n';

function repository(scratch: Scratch, files: Readonly<Record<string, string>> = {}): (...words: string[]) => string {
  const git = (...words: string[]): string =>
    execFileSync('git', words, { cwd: scratch.workspace, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  git('init', '-q', '-b', 'main');
  git('config', 'user.name', 'Ada');
  git('config', 'user.email', 'ada@example.org');
  scratch.write('tool-runtime.yaml', REGISTRY);
  for (const [name, content] of Object.entries(files)) scratch.write(name, content);
  git('add', '.');
  git('commit', '-q', '-m', 'chore: begin');
  return git;
}

describe('tool-runtime validate [S0-57]', () => {
  test('ends with 0 on a clean tree and with 1 when a secret is in it, whatever the reporter [S0-57] (deep)', async () => {
    using scratch = createScratch();
    repository(scratch, { 'a.txt': 'plain\n' });
    const run = (...words: string[]) => runCli(['validate', ...words, ...scratch.options]);
    const clean = await run();
    assert.equal(clean.code, 0, clean.stderr);
    scratch.write('config.txt', `key = ${TOKEN}\n`);
    for (const reporter of ['pretty', 'json', 'github', 'sarif', 'junit']) {
      const { code, stdout } = await run('--reporter', reporter);
      assert.equal(code, 1, reporter);
      assert.match(stdout, /config\.txt/, reporter);
      assert.match(stdout, /secrets\.scan/, reporter);
      assert.ok(!stdout.includes(TOKEN), `${reporter} does not echo the secret`);
    }
    assert.equal((await run('a.txt')).code, 0, 'only the files asked for');
    assert.equal((await run('--rule', 'code.todo.blockers')).code, 0, 'only the rules asked for');
  });

  test('--staged judges the index, --since the commits of a branch [S0-57] (deep)', async () => {
    using scratch = createScratch();
    const git = repository(scratch, { 'a.txt': 'plain\n' });
    const run = (...words: string[]) => runCli(['validate', ...words, ...scratch.options]);
    scratch.write('config.txt', `key = ${TOKEN}\n`);
    assert.equal((await run('--staged')).code, 0, 'not staged yet');
    git('add', 'config.txt');
    scratch.write('config.txt', 'nothing here any more\n');
    assert.equal((await run('--staged')).code, 1, 'staged, although the file on disk is harmless');
    git('switch', '-q', '-c', 'side');
    git('commit', '-q', '-m', 'feat: x');
    assert.equal((await run('--since', 'main')).code, 1);
    assert.equal((await run('--since', 'HEAD')).code, 0);
    const both = await run('--staged', '--since', 'main');
    assert.equal(both.code, 2);
    const unknown = await run('--since', '--output=x');
    assert.equal(unknown.code, 3);
  });

  test('warnings pass unless --strict [S0-57 S0-71] (deep)', async () => {
    using scratch = createScratch();
    repository(scratch, { 'a.txt': 'plain\n' });
    scratch.write('message', 'Did some things\n# comment\n');
    const run = (...words: string[]) =>
      runCli(['validate', '--message-file', `${scratch.workspace}/message`, ...words, ...scratch.options]);
    const warned = await run();
    assert.equal(warned.code, 0);
    assert.match(warned.stdout, /commit\.message\.conventional/);
    assert.equal((await run('--strict')).code, 1);
  });

  test('without a repository it judges all files, and for what is staged it ends with 3 and says why [S0-57]', async () => {
    using scratch = createScratch();
    assert.equal((await runCli(['validate', ...scratch.options])).code, 0);
    const { code, stderr } = await runCli(['validate', '--staged', ...scratch.options]);
    assert.equal(code, 3);
    assert.match(stderr, /not a git repository.*scope worktree/s);
  });
});
