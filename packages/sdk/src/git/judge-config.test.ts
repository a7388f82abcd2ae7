import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { isListed, judgeConfig } from './judge-config.ts';

const entry = (key: string, value = 'x') => [{ origin: 'file:.git/config', key, value }];

test('what every clone, work tree, submodule and sparse checkout writes is harmless [S0-51]', () => {
  const usual: [string, string][] = [
    ['core.repositoryformatversion', '0'],
    ['core.bare', 'false'],
    ['core.sparsecheckout', 'true'],
    ['extensions.worktreeconfig', 'true'],
    ['remote.origin.url', 'https://example.org/x.git'],
    ['remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*'],
    ['branch.feat/x.y.remote', 'origin'],
    ['branch.feat/x.y.merge', 'refs/heads/feat/x.y'],
    ['submodule.lib.url', 'https://example.org/lib.git'],
    ['submodule.lib.update', 'rebase'],
    ['user.email', 'a@example.org'],
    ['alias.st', 'status'],
    ['pull.rebase', 'true'],
    ['commit.gpgsign', 'true'],
    ['core.fsmonitor', 'false'],
    ['gitflow.branch.master', 'main'],
  ];
  for (const [key, value] of usual) judgeConfig(entry(key, value), []);
});

test('everything else is refused by name, also what git may invent tomorrow [S0-51]', () => {
  const refused: [string, string][] = [
    ['core.fsmonitor', 'true'],
    ['core.worktree', '/etc'],
    ['core.newprogram', 'x'],
    ['filter.lfs.process', 'git-lfs filter-process'],
    ['diff.pdf.textconv', 'pdf2txt'],
    ['merge.ours.driver', 'true'],
    ['include.path', '../x'],
    ['includeif.gitdir:~/.path', '../x'],
    ['url.ssh://x/.insteadof', 'https://x/'],
    ['http.proxy', 'http://x'],
    ['http.sslverify', 'false'],
    ['credential.https://x.helper', '!evil'],
    ['submodule.lib.update', '!evil'],
    ['protocol.ext.allow', 'always'],
    ['remote.origin.vcs', 'evil'],
    ['trailer.x.command', 'evil'],
    ['uploadpack.packobjectshook', 'evil'],
    ['core.alternaterefscommand', 'evil'],
    ['gpg.ssh.program', 'evil'],
  ];
  for (const [key, value] of refused) {
    assert.throws(
      () => judgeConfig(entry(key, value), []),
      (thrown) => isToolError(thrown) && thrown.code === 'E_POLICY' && thrown.details['key'] === key,
      key,
    );
    judgeConfig(entry(key, value), [key]);
  }
});

test('a listed pattern covers its section and not its neighbours, whatever the case [S0-51]', () => {
  assert.ok(isListed('filter.lfs.process', ['filter.lfs.*']));
  assert.ok(isListed('filter.LFS.clean', ['Filter.lfs.*']));
  assert.ok(!isListed('filter.lfsx.clean', ['filter.lfs.*']));
  assert.ok(!isListed('core.hookspath', ['filter.*']));
  assert.ok(!isListed('core.pagerx', ['core.pager']));
  assert.ok(!isListed('x.core.pager', ['core.pager']));
});
