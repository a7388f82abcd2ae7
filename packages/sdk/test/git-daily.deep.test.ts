/**
 * A day of work on a small repository, through a session: find, edit, test, commit, push over HTTP and over ssh, resolve a
 * conflict, recover. One repository has husky hooks, one has files of git-lfs.
 */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type GitHttpServer, startGitHttpServer } from './git-http-server.ts';
import { createRepository, openGitRuntime, type TestRepository } from './git-repository.ts';
import { type SshServer, startSshServer } from './ssh-server.ts';

const FILES = {
  'src/sum.js': 'exports.sum = (a, b) => a - b;\n',
  'test/sum.js': "require('node:assert').equal(require('../src/sum.js').sum(1, 2), 3);\n",
  'README.md': '# sum\n',
};

let ssh: SshServer;
let undo: () => void;
before(async () => {
  ssh = await startSshServer();
  undo = ssh.useHere();
});
after(() => {
  undo();
  ssh.close();
});

interface Remotes {
  readonly http: GitHttpServer;
  readonly bare: string;
}

async function withProject(use: (project: TestRepository, remotes: Remotes) => Promise<void>): Promise<void> {
  const project = createRepository({ files: FILES });
  const bare = join(project.beside, 'remote.git');
  project.git('clone', '--quiet', '--bare', project.folder, bare);
  const http = await startGitHttpServer({ root: project.beside });
  project.git('remote', 'add', 'web', http.url('remote.git'));
  project.git('remote', 'add', 'origin', ssh.url(bare));
  try {
    await use(project, { http, bare });
  } finally {
    await http.close();
    project.dispose();
  }
}

function registryFor({ http }: Remotes, more = ''): string {
  return [
    'version: 1',
    "shell_allow: ['^node [a-z/.]+$']",
    `network: {allowed_domains: ['${http.host}', '${ssh.domain}']}`,
    `git: {allow_push: true${more}}`,
    '',
  ].join('\n');
}

/** Another person changes the same line, and pushes. */
function colleague(project: TestRepository, bare: string): void {
  const clone = join(project.beside, 'colleague');
  project.git('clone', '--quiet', bare, clone);
  writeFileSync(join(clone, 'README.md'), '# sum, theirs\n');
  const who = ['-C', clone, '-c', 'user.name=Bob', '-c', 'user.email=bob@example.org'];
  project.git(...who, 'commit', '--quiet', '-a', '-m', 'docs: theirs');
  project.git(...who, 'push', '--quiet', 'origin', 'main');
}

describe('a day of work', () => {
  test('find, edit, test, commit, push both ways, resolve a conflict, recover, with husky [S0-45 S0-49 S0-51]', () =>
    withProject(async (project, remotes) => {
      const { bare } = remotes;
      mkdirSync(project.path('.husky/_'), { recursive: true });
      writeFileSync(project.path('.husky/_/pre-commit'), '#!/bin/sh\nexec sh -e .husky/pre-commit "$@"\n');
      chmodSync(project.path('.husky/_/pre-commit'), 0o755);
      writeFileSync(project.path('.husky/pre-commit'), 'node test/sum.js\n');
      project.git('config', 'core.hooksPath', '.husky/_');
      project.write({ '.git/info/exclude': '.husky\n' });
      const runtime = await openGitRuntime(project, { registry: registryFor(remotes, ', hooks: sandboxed') });
      try {
        const found = await runtime.call<object>('grep', { pattern: 'a - b' });
        assert.match(JSON.stringify(found), /src\/sum\.js/);
        await runtime.call('file_write', { path: 'src/note.js', content: '// unfinished\n' });
        await runtime.call('git_add', { paths: ['README.md', 'src/note.js'] });
        const refused = await runtime.refused('git_commit', { message: 'wip' });
        assert.equal(refused.details?.['reason'], 'hook_failed', 'the hook runs the test, which fails');
        await runtime.call('file_write', { path: 'src/sum.js', content: 'exports.sum = (a, b) => a + b;\n' });
        const tested = await runtime.call<{ code: number }>('shell_exec', { cmd: 'node test/sum.js' });
        assert.equal(tested.code, 0);
        await runtime.call('git_add', { paths: ['src/sum.js'] });
        await runtime.call('file_write', { path: 'README.md', content: '# sum, ours\n' });
        const { commit } = await runtime.call<{ commit: string }>('git_commit', { message: 'fix: add' });
        const web = await runtime.call<{ commit: string }>('git_push', { remote: 'web', set_upstream: false });
        assert.equal(web.commit, commit);
        assert.equal(project.git('--git-dir', bare, 'rev-parse', 'main').trim(), commit);
        colleague(project, bare);
        await runtime.call('git_add', { paths: ['README.md'] });
        await runtime.call('git_commit', { message: 'docs: ours' });
        const rejected = await runtime.refused('git_push', { remote: 'origin' });
        assert.equal(rejected.details?.['reason'], 'rejected');
        const pulled = await runtime.call<{ conflicts: string[] }>('git_pull', { remote: 'origin', rebase: false });
        assert.deepEqual(pulled.conflicts, ['README.md']);
        await runtime.call('file_write', { path: 'README.md', content: '# sum, both\n' });
        await runtime.call('git_add', { paths: ['README.md'] });
        await runtime.call('git_continue');
        const pushed = await runtime.call<{ upstream: string; commit: string }>('git_push', { remote: 'origin' });
        assert.equal(pushed.upstream, 'origin/main');
        assert.equal(project.git('--git-dir', bare, 'show', 'main:README.md'), '# sum, both\n');
        const status = await runtime.call<{ ahead: number; behind: number }>('git_status');
        assert.deepEqual([status.ahead, status.behind], [0, 0]);
        await runtime.call('fs_delete', { path: 'src', recursive: true });
        await runtime.call('git_recover');
        assert.equal(readFileSync(project.path('src/sum.js'), 'utf8'), 'exports.sum = (a, b) => a + b;\n');
        assert.equal(project.git('rev-parse', 'HEAD').trim(), pushed.commit, 'no commit was dropped');
      } finally {
        await runtime.dispose();
      }
    }));

  test('git-lfs: pointers are read, kept and checked out, and contents are not staged by mistake [S0-51]', () =>
    withProject(async (project, remotes) => {
      const pointer =
        'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n';
      // As plain git without git-lfs makes it.
      project.commit(
        { '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n', 'big.bin': pointer },
        'feat: big',
      );
      for (const [key, value] of Object.entries({
        clean: 'git-lfs clean -- %f',
        smudge: 'git-lfs smudge -- %f',
        process: 'git-lfs filter-process',
        required: 'true',
      })) {
        project.git('config', `filter.lfs.${key}`, value);
      }
      const runtime = await openGitRuntime(project, { registry: registryFor(remotes) });
      try {
        const first = await runtime.ask('git_status');
        assert.ok(first.ok, JSON.stringify(first.errors));
        assert.match(first.warnings[0]?.message ?? '', /filter\.lfs\.clean.*pointer/s);
        assert.deepEqual((await runtime.ask('git_status')).warnings, [], 'reported once');
        const shown = await runtime.call<{ file: { content: string } }>('git_show', { ref: 'HEAD', path: 'big.bin' });
        assert.equal(shown.file.content, pointer);
        await runtime.call('git_checkout', { ref: 'HEAD~1' });
        await runtime.call('git_checkout', { ref: 'main' });
        assert.equal(readFileSync(project.path('big.bin'), 'utf8'), pointer);
        project.write({ 'other.bin': pointer, 'real.bin': Buffer.alloc(5000, 7) });
        await runtime.call('git_add', { paths: ['other.bin'] });
        await runtime.call('git_commit', { message: 'feat: other' });
        const refused = await runtime.refused('git_add', { paths: ['real.bin'] });
        assert.deepEqual([refused.details?.['reason'], refused.details?.['paths']], ['lfs_content', ['real.bin']]);
        await runtime.call('git_push', { remote: 'web' });
      } finally {
        await runtime.dispose();
      }
    }));
});
