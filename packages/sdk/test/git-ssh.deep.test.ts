/** Remotes over a real sshd on loopback: what works, and each check that stands between a repository and the operator's key. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createRepository, type GitRuntime, openGitRuntime, type TestRepository } from './git-repository.ts';
import { type SshServer, startSshServer } from './ssh-server.ts';

let server: SshServer;
let undo: () => void;
before(async () => {
  server = await startSshServer();
  undo = server.useHere();
});
after(() => {
  undo();
  server.close();
});

interface Scene extends TestRepository {
  readonly bare: string;
}

async function withScene(
  use: (scene: Scene, runtime: GitRuntime) => Promise<void>,
  registry = `version: 1\ngit: {allow_push: true}\nnetwork: {allowed_domains: ['${server.domain}']}\n`,
): Promise<void> {
  const repository = createRepository({ files: { 'a.txt': 'one\n' } });
  const bare = join(repository.beside, 'remote.git');
  repository.git('init', '--quiet', '--bare', '--initial-branch=main', bare);
  repository.git('remote', 'add', 'origin', server.url(bare));
  const runtime = await openGitRuntime(repository, { registry });
  try {
    await use({ ...repository, bare }, runtime);
  } finally {
    await runtime.dispose();
    repository.dispose();
  }
}

const logins = () => server.log().match(/Accepted publickey/g)?.length ?? 0;
const knownHosts = () => join(server.home, '.ssh/known_hosts');

describe('remotes over ssh', () => {
  test('push, fetch and pull work through the agent, and leave nothing behind [S0-49 S0-51]', () =>
    withScene(async (scene, runtime) => {
      const head = scene.git('rev-parse', 'HEAD').trim();
      const pushed = await runtime.call<{ commit: string; upstream: string }>('git_push');
      assert.deepEqual([pushed.commit, pushed.upstream], [head, 'origin/main']);
      assert.equal(scene.git('--git-dir', scene.bare, 'rev-parse', 'main').trim(), head);
      const clone = join(scene.beside, 'clone');
      scene.git('clone', '--quiet', scene.bare, clone);
      const there = ['-C', clone, '-c', 'user.name=x', '-c', 'user.email=x@example.org'];
      scene.git(...there, 'commit', '--quiet', '--allow-empty', '-m', 'feat: theirs');
      scene.git(...there, 'push', '--quiet', 'origin', 'main');
      await runtime.call('git_pull');
      assert.equal(scene.git('log', '-1', '--format=%s').trim(), 'feat: theirs');
      assert.deepEqual(
        readdirSync(server.temporary).filter((name) => name.startsWith('tool-runtime-ssh-')),
        [],
      );
      assert.ok(logins() >= 2, 'every talk was a login by the key of the agent');
    }));

  test('a name of the operator’s ssh configuration and their rewrites are honoured, the key they choose too [S0-51]', () =>
    withScene(async (scene, runtime) => {
      const config = join(server.home, '.ssh/config');
      const rewrites = join(server.home, '.gitconfig');
      writeFileSync(config, `Host work\n  HostName 127.0.0.1\n  Port ${server.port}\n  User ${server.user}\n`);
      writeFileSync(rewrites, `[url "work:${scene.beside}/"]\n\tinsteadOf = https://example.org/\n`);
      try {
        scene.git('remote', 'set-url', 'origin', 'https://example.org/remote.git');
        await runtime.call('git_push');
        assert.equal(scene.git('--git-dir', scene.bare, 'rev-list', '--count', 'main').trim(), '1');
      } finally {
        rmSync(config);
        rmSync(rewrites);
      }
    }));
});

describe('signatures', () => {
  test('commits are signed by the agent where the registry allows it, and verify [S0-45]', () =>
    withScene(async (scene, runtime) => {
      scene.git('config', 'commit.gpgSign', 'true');
      scene.git('config', 'gpg.format', 'ssh');
      scene.git('config', 'user.signingKey', server.loginKey);
      const { commit } = await runtime.call<{ commit: string }>('git_commit', { message: 'fix: x', allow_empty: true });
      const signers = join(scene.beside, 'signers');
      writeFileSync(signers, `ada@example.org ${server.loginKey}\n`);
      const words = ['-c', `gpg.ssh.allowedSignersFile=${signers}`, 'verify-commit', commit];
      assert.equal(scene.gitCode(...words), 0);
      const plain = await runtime.call<{ commit: string }>('git_commit', {
        message: 'y',
        allow_empty: true,
        sign: false,
      });
      assert.notEqual(scene.gitCode('verify-commit', plain.commit), 0);
      scene.git('config', 'gpg.ssh.program', scene.path('evil.sh'));
      await runtime.call('git_commit', { message: 'z', allow_empty: true });
      scene.git('config', 'user.signingKey', '/etc/passwd');
      const refused = await runtime.refused('git_commit', { message: 'fix: x', allow_empty: true });
      assert.equal(refused.details?.['reason'], 'cannot_sign', 'no other file is handed over');
    }, 'version: 1\ngit: {signing: agent}\n'));

  test('a signature that may not be made refuses the commit and names the way out; other verbs say it is missing [S0-45]', () =>
    withScene(async (scene, runtime) => {
      scene.git('branch', 'other');
      scene.git('config', 'commit.gpgSign', 'true');
      scene.git('config', 'gpg.format', 'ssh');
      scene.git('config', 'user.signingKey', server.loginKey);
      const refused = await runtime.refused('git_commit', { message: 'fix: x', allow_empty: true });
      assert.deepEqual([refused.code, refused.details?.['reason']], ['E_POLICY', 'cannot_sign']);
      assert.match(String(refused.details?.['next']), /sign: false/);
      await runtime.call('git_commit', { message: 'fix: x', allow_empty: true, sign: false });
      const { warnings } = await runtime.ask('git_rebase', { ref: 'other' });
      assert.match(JSON.stringify(warnings), /not_signed/);
    }));
});

describe('OpenPGP signatures', () => {
  test('are refused with the reason and both ways out, and never left out silently [S0-45]', () =>
    withScene(async (scene, runtime) => {
      scene.git('config', 'commit.gpgSign', 'true');
      scene.git('config', 'user.signingKey', 'ada@example.org');
      const head = scene.git('rev-parse', 'HEAD');
      for (const asked of [{}, { sign: true }]) {
        const refused = await runtime.refused('git_commit', { message: 'fix: x', allow_empty: true, ...asked });
        assert.deepEqual([refused.code, refused.details?.['reason']], ['E_POLICY', 'cannot_sign']);
        assert.match(
          `${refused.message} ${refused.details?.['next']}`,
          /only ssh signatures are made pass sign: false.*gpg\.format to ssh/,
        );
      }
      assert.equal(scene.git('rev-parse', 'HEAD'), head, 'nothing was committed');
      await runtime.call('git_commit', { message: 'fix: x', allow_empty: true, sign: false });
    }, 'version: 1\ngit: {signing: agent}\n'));
});

describe('what ssh does not do', () => {
  test('a host that policy does not list is not contacted [S0-51]', () =>
    withScene(async (_, runtime) => {
      const before = server.log();
      const refused = await runtime.refused('git_fetch');
      assert.deepEqual([refused.code, refused.details?.['reason']], ['E_POLICY', 'not_listed']);
      assert.equal(server.log(), before);
    }, `version: 1\ngit: {allow_push: true}\nnetwork: {allowed_domains: ['127.0.0.1']}\n`));

  test('a host without a known key is not contacted; with a changed one the login does not happen [S0-51]', () =>
    withScene(async (_, runtime) => {
      const good = server.knownHost();
      try {
        writeFileSync(knownHosts(), `example.org ${server.otherKey()}\n`);
        const said = server.log();
        assert.equal((await runtime.refused('git_fetch')).details?.['reason'], 'unknown_host_key');
        assert.equal(server.log(), said);
        writeFileSync(knownHosts(), server.knownHost(server.otherKey()));
        const before = logins();
        assert.equal((await runtime.refused('git_fetch')).details?.['reason'], 'host_key_changed');
        assert.equal(logins(), before);
      } finally {
        writeFileSync(knownHosts(), good);
      }
      await runtime.call('git_fetch');
    }));

  test('without an agent there is no login, and key files are not read [S0-51]', () =>
    withScene(async (_, runtime) => {
      const { SSH_AUTH_SOCK: agent } = process.env;
      delete process.env['SSH_AUTH_SOCK'];
      try {
        assert.equal((await runtime.refused('git_fetch')).details?.['reason'], 'no_agent');
      } finally {
        process.env['SSH_AUTH_SOCK'] = agent;
      }
    }));

  test('the repository’s own ssh command, variant, proxy and upload pack have no say [S0-51]', () =>
    withScene(async (scene, runtime) => {
      const program = scene.path('evil.sh');
      writeFileSync(program, `#!/bin/sh\ntouch '${scene.path('canary')}'\nexit 1\n`);
      chmodSync(program, 0o755);
      scene.git('config', 'core.sshCommand', program);
      scene.git('config', 'ssh.variant', 'simple');
      scene.git('config', 'remote.origin.uploadpack', program);
      scene.git('config', 'remote.origin.receivepack', program);
      scene.git('config', 'core.gitProxy', program);
      const { warnings } = await runtime.ask('git_push');
      assert.match(JSON.stringify(warnings), /core\.sshcommand/);
      await runtime.call('git_fetch');
      assert.ok(!existsSync(scene.path('canary')), 'nothing of the repository ran');
    }));
});
