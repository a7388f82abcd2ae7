import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startGitHttpServer } from '../../../test/git-http-server.ts';
import { createRepository, hostileWords, openGitRuntime, type TestRepository } from '../../../test/git-repository.ts';

const PUSH = 'version: 1\ngit:\n  allow_push: true\n';
const FORCE = `${PUSH}  allow_force_push: true\n`;

/** A repository with a bare remote beside it, outside the workspace. */
function withRemote(): { readonly repository: TestRepository; readonly bare: string; remoteHas(ref: string): string } {
  const repository = createRepository({ files: { 'a.txt': 'one\n' } });
  const bare = join(repository.beside, 'remote.git');
  repository.git('init', '--quiet', '--bare', '--initial-branch=main', bare);
  repository.git('remote', 'add', 'origin', bare);
  return {
    repository,
    bare,
    remoteHas: (ref) => repository.git('--git-dir', bare, 'for-each-ref', '--format=%(objectname)', ref).trim(),
  };
}

describe('git_push [S0-49]', () => {
  test('pushes the current branch to a local bare remote, and says when there is nothing to do [S0-49]', async () => {
    const { repository, remoteHas } = withRemote();
    const runtime = await openGitRuntime(repository, { registry: PUSH });
    try {
      const head = repository.git('rev-parse', 'HEAD').trim();
      const first = await runtime.call<Record<string, unknown>>('git_push', { remote: 'origin', refspec: 'HEAD' });
      assert.deepEqual(first, {
        pushed: true,
        remote: 'origin',
        destination: 'refs/heads/main',
        commit: head,
        up_to_date: false,
        upstream: 'origin/main',
      });
      assert.equal(remoteHas('refs/heads/main'), head);
      assert.equal(repository.git('rev-parse', 'refs/remotes/origin/main').trim(), head);
      const second = await runtime.call<{ up_to_date: boolean }>('git_push', { remote: 'origin', refspec: 'main' });
      assert.equal(second.up_to_date, true);
      await runtime.call('git_push', { remote: 'origin', refspec: 'HEAD:refs/heads/feature' });
      assert.equal(remoteHas('refs/heads/feature'), head);
      repository.git('tag', 'v1');
      await runtime.call('git_push', { remote: 'origin', refspec: 'v1' });
      assert.equal(remoteHas('refs/tags/v1'), head);
    } finally {
      await runtime.dispose();
      repository.dispose();
    }
  });

  test('the first push sets what the branch follows, later ones leave it; set_upstream decides otherwise [S0-49]', async () => {
    const { repository } = withRemote();
    const runtime = await openGitRuntime(repository, { registry: PUSH });
    const follows = () => repository.git('for-each-ref', '--format=%(upstream:short)', 'refs/heads/main').trim();
    const push = async (args: object) => (await runtime.call<{ upstream: unknown }>('git_push', args)).upstream;
    const distance = async () => {
      const { upstream, ahead, behind } = await runtime.call<Record<string, unknown>>('git_status');
      return [upstream, ahead, behind];
    };
    try {
      assert.deepEqual(await distance(), [null, null, null], 'no upstream is not the same as in sync');
      assert.equal(await push({ set_upstream: false }), null);
      assert.equal(await push({ ref: 'HEAD:refs/heads/feature' }), null, 'another name is not followed by itself');
      assert.equal(follows(), '');
      assert.equal(await push({}), 'origin/main');
      assert.deepEqual(await distance(), ['origin/main', 0, 0]);
      assert.equal(await push({ ref: 'HEAD:refs/heads/feature' }), 'origin/main');
      assert.equal(await push({ ref: 'HEAD:refs/heads/feature', set_upstream: true }), 'origin/feature');
      assert.equal(follows(), 'origin/feature');
      repository.git('tag', 'v2');
      assert.equal(await push({ ref: 'v2', set_upstream: true }), null, 'a tag follows nothing');
    } finally {
      await runtime.dispose();
      repository.dispose();
    }
  });

  test('refused while allow_push is false, with the line that says so, and nothing is pushed [S0-49]', async () => {
    const { repository, remoteHas } = withRemote();
    const runtime = await openGitRuntime(repository, { registry: 'version: 1\ngit:\n  allow_push: false\n' });
    try {
      const error = await runtime.refused('git_push', { remote: 'origin', refspec: 'HEAD' });
      assert.equal(error.code, 'E_POLICY');
      assert.equal(error.details?.['registry'], 'ops.yaml:3');
      assert.equal(remoteHas('refs/heads/'), '');
      assert.ok(!runtime.session.tools().some(({ name }) => name === 'git_push'), 'discovery does not list it');
    } finally {
      await runtime.dispose();
      repository.dispose();
    }
  });

  test('force is a gate of its own, + and deletion count as force, protected branches stay closed [S0-49] (deep)', async () => {
    const { repository, remoteHas } = withRemote();
    const plain = await openGitRuntime(repository, { registry: PUSH });
    const forced = await openGitRuntime(repository, { registry: FORCE });
    try {
      repository.git('switch', '-q', '-c', 'work');
      await plain.call('git_push', { refspec: 'work' });
      await plain.call('git_push', { refspec: 'work:refs/heads/main' });
      repository.git('commit', '-q', '--amend', '-m', 'chore: other');
      const error = await plain.refused('git_push', { refspec: 'work' });
      assert.equal(error.code, 'E_GIT');
      assert.equal(error.details?.['reason'], 'rejected');
      for (const given of [{ refspec: '+work' }, { refspec: 'work', force: true }, { refspec: ':work', force: true }]) {
        const refusal = await plain.refused('git_push', given);
        assert.equal(refusal.code, 'E_POLICY', JSON.stringify(given));
        assert.equal(refusal.details?.['reason'], 'force_forbidden');
      }
      assert.equal((await forced.refused('git_push', { refspec: '+work' })).details?.['reason'], 'force_not_said');
      for (const refspec of ['+work:main', ':main', 'work:refs/heads/main']) {
        const refusal = await forced.refused('git_push', { refspec, force: true });
        assert.equal(refusal.details?.['reason'], 'protected_branch', refspec);
      }
      await forced.call('git_push', { refspec: 'work', force: true });
      assert.equal(remoteHas('refs/heads/work'), repository.git('rev-parse', 'work').trim());
      await forced.call('git_push', { refspec: ':work', force: true });
      assert.equal(remoteHas('refs/heads/work'), '');
    } finally {
      await plain.dispose();
      await forced.dispose();
      repository.dispose();
    }
  });

  test('hooks of a local remote do not run, although plain git runs them [S0-51]', async () => {
    const { repository, bare } = withRemote();
    const canary = join(bare, 'canary');
    const hook = join(bare, 'hooks', 'post-receive');
    const { chmodSync, rmSync, writeFileSync } = await import('node:fs');
    writeFileSync(hook, `#!/bin/sh\ntouch '${canary}'\n`);
    chmodSync(hook, 0o755);
    const runtime = await openGitRuntime(repository, { registry: PUSH });
    try {
      repository.git('push', '-q', 'origin', 'main:control');
      assert.ok(existsSync(canary), 'the control shows that the hook works');
      rmSync(canary);
      await runtime.call('git_push', { refspec: 'HEAD' });
      assert.ok(!existsSync(canary));
    } finally {
      await runtime.dispose();
      repository.dispose();
    }
  });

  test('over HTTP: pushed when the host is allowed, refused when it is not [S0-49 S0-51] (deep)', async () => {
    const { repository, bare, remoteHas } = withRemote();
    const server = await startGitHttpServer({ root: repository.beside });
    repository.git('remote', 'set-url', 'origin', server.url('remote.git'));
    const allowed = await openGitRuntime(repository, {
      registry: `${PUSH}network:\n  allowed_domains: ['${server.host}']\n`,
    });
    const closed = await openGitRuntime(repository, { registry: PUSH });
    try {
      const error = await closed.refused('git_push', { refspec: 'HEAD' });
      assert.equal(error.code, 'E_POLICY');
      assert.equal(server.seen.length, 0, 'the server heard nothing');
      await allowed.call('git_push', { refspec: 'HEAD' });
      assert.equal(remoteHas('refs/heads/main'), repository.git('rev-parse', 'HEAD').trim());
      assert.ok(existsSync(bare) && server.seen.length > 0);
    } finally {
      await allowed.dispose();
      await closed.dispose();
      await server.close();
      repository.dispose();
    }
  });

  test('a redirect to a host that is not allowed is not followed [S0-51]', async () => {
    const { repository } = withRemote();
    const secret = await startGitHttpServer({ root: repository.beside });
    const open = await startGitHttpServer({ root: repository.beside, redirectTo: `http://${secret.host}` });
    repository.git('remote', 'set-url', 'origin', open.url('remote.git'));
    const runtime = await openGitRuntime(repository, {
      registry: `${PUSH}network:\n  allowed_domains: ['${open.host}']\n`,
    });
    try {
      assert.equal((await runtime.refused('git_push', { refspec: 'HEAD' })).code, 'E_GIT');
      assert.ok(open.seen.length > 0);
      assert.equal(secret.seen.length, 0);
    } finally {
      await runtime.dispose();
      await Promise.all([open.close(), secret.close()]);
      repository.dispose();
    }
  });

  test('a token the operator names reaches its host and nothing else: no answer, no journal [S0-51] (deep)', async () => {
    const { repository, remoteHas } = withRemote();
    const token = ['gh', 'p_', 'abcdefghijklmnopqrstuvwxyz0123456789'].join('');
    const server = await startGitHttpServer({ root: repository.beside, login: `x-access-token:${token}` });
    repository.git('remote', 'set-url', 'origin', server.url('remote.git'));
    process.env['TEST_GIT_TOKEN'] = token;
    const registry = `${PUSH}  credentials:\n    '${server.host}': TEST_GIT_TOKEN\nnetwork:\n  allowed_domains: ['${server.host}']\n  insecure_credentials: ['${server.host}']\n`;
    const without = await openGitRuntime(repository, { registry: registry.replace('TEST_GIT_TOKEN', 'TEST_GIT_NONE') });
    const runtime = await openGitRuntime(repository, { registry });
    try {
      assert.equal((await without.refused('git_push', { refspec: 'HEAD' })).code, 'E_GIT');
      const response = await runtime.ask('git_push', { refspec: 'HEAD' });
      assert.ok(response.ok, JSON.stringify(response.errors));
      assert.notEqual(remoteHas('refs/heads/main'), '');
      assert.ok(!JSON.stringify([response, ...runtime.runtime.records()]).includes(token));
    } finally {
      delete process.env['TEST_GIT_TOKEN'];
      await runtime.dispose();
      await without.dispose();
      await server.close();
      repository.dispose();
    }
  });

  test('a token is not sent over plain http to a host that is not listed for it [S0-51] (deep)', async () => {
    const { repository, remoteHas } = withRemote();
    const server = await startGitHttpServer({ root: repository.beside });
    repository.git('remote', 'set-url', 'origin', server.url('remote.git'));
    process.env['TEST_GIT_TOKEN'] = 'token-for-one-host-only';
    const listed = `allowed_domains: ['${server.host}']\n`;
    const named = `${PUSH}  credentials:\n    '${server.host}': TEST_GIT_TOKEN\nnetwork:\n  ${listed}`;
    const others = `${named}  insecure_credentials: ['127.0.0.1', 'localhost:1', '*.example.org']\n`;
    try {
      for (const registry of [named, others]) {
        const runtime = await openGitRuntime(repository, { registry });
        for (const tool of ['git_push', 'git_fetch'] as const) {
          const error = await runtime.refused(tool, tool === 'git_push' ? { refspec: 'HEAD' } : {});
          assert.equal(error.code, 'E_POLICY');
          assert.equal(error.details?.['reason'], 'insecure_credentials');
          assert.match(error.message + String(error.details?.['next']), /network\.insecure_credentials/);
        }
        await runtime.dispose();
      }
      assert.equal(server.seen.length, 0);
      const anonymous = await openGitRuntime(repository, { registry: `${PUSH}network:\n  ${listed}` });
      assert.ok((await anonymous.ask('git_push', { refspec: 'HEAD' })).ok);
      assert.notEqual(remoteHas('refs/heads/main'), '');
      await anonymous.dispose();
    } finally {
      delete process.env['TEST_GIT_TOKEN'];
      await server.close();
      repository.dispose();
    }
  });

  test('transports that start programs, and addresses with credentials, are refused by name [S0-51]', async () => {
    const { repository } = withRemote();
    const canary = join(repository.beside, 'canary');
    const runtime = await openGitRuntime(repository, { registry: PUSH });
    const cases: [string, string][] = [
      ['git@example.org:x/y.git', 'not_listed'],
      ['ssh://example.org/x.git', 'not_listed'],
      ['git://example.org/x.git', 'unsupported_transport'],
      [`ext::sh -c touch% ${canary}`, 'unsupported_transport'],
      ['https://user:secret@example.org/x.git', 'credentials_in_url'],
      ['/nonexistent/x.git', 'remote_not_found'],
    ];
    try {
      for (const [address, reason] of cases) {
        repository.git('remote', 'set-url', 'origin', address);
        const error = await runtime.refused('git_push', { refspec: 'HEAD' });
        assert.equal(error.details?.['reason'], reason, address);
        assert.ok(!JSON.stringify(error).includes('secret'));
      }
      assert.ok(!existsSync(canary));
    } finally {
      await runtime.dispose();
      repository.dispose();
    }
  });

  test('no string argument becomes an option of git [S0-51] (deep)', async () => {
    const { repository, remoteHas } = withRemote();
    const canary = join(repository.beside, 'canary');
    const runtime = await openGitRuntime(repository, { registry: FORCE });
    try {
      for (const word of hostileWords(canary)) {
        for (const args of [{ remote: word }, { refspec: word }, { refspec: `HEAD:${word}` }]) {
          assert.equal((await runtime.ask('git_push', args)).ok, false, JSON.stringify(args));
        }
      }
      assert.ok(!existsSync(canary));
      assert.equal(remoteHas('refs/'), '');
    } finally {
      await runtime.dispose();
      repository.dispose();
    }
  });
});
