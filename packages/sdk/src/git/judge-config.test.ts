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

test('what git cannot be made to ignore is refused by name, also what git may invent tomorrow [S0-51]', () => {
  const refused: [string, string][] = [
    ['core.newprogram', 'x'],
    ['include.path', '../x'],
    ['includeif.gitdir:~/.path', '../x'],
    ['http.proxy', 'http://x'],
    ['http.sslverify', 'false'],
    ['pull.twohead', 'evil'],
    ['filter.a=b.clean', 'evil'],
  ];
  for (const [key, value] of refused) {
    assert.throws(
      () => judgeConfig(entry(key, value), []),
      (thrown) => isToolError(thrown) && thrown.code === 'E_POLICY' && thrown.details['key'] === key,
      key,
    );
    assert.deepEqual(judgeConfig(entry(key, value), [key]), []);
  }
});

const OVERRIDDEN: readonly (readonly [key: string, value: string, said: string | undefined])[] = [
  ['core.fsmonitor', 'true', undefined],
  ['core.hookspath', '.husky/_', undefined],
  ['core.editor', 'vim', undefined],
  ['core.worktree', '/etc', undefined],
  ['filter.lfs.process', 'git-lfs filter-process', ''],
  ['filter.lfs.required', 'true', 'false'],
  ['diff.pdf.textconv', 'pdf2txt', 'false'],
  ['diff.external', 'evil', 'false'],
  ['merge.default', 'ours', 'text'],
  ['credential.https://x.helper', '!evil', ''],
  ['alias.merge-evil', '!evil', 'false'],
  ['submodule.lib.update', '!evil', undefined],
  ['protocol.ext.allow', 'always', undefined],
  ['remote.origin.vcs', 'evil', undefined],
  ['trailer.x.command', 'evil', 'true'],
  ['uploadpack.packobjectshook', 'evil', undefined],
  ['core.alternaterefscommand', 'evil', 'true'],
  ['gpg.ssh.program', 'evil', 'false'],
  ['lfs.customtransfer.x.path', 'evil', undefined],
];

test('what would run a program is overridden, unless the operator lists it [S0-51]', () => {
  for (const [key, value, said] of OVERRIDDEN) {
    const [one, ...others] = judgeConfig([...entry(key, value), ...entry(key, value)], []);
    assert.deepEqual([one?.key, one?.value, others], [key, said, []]);
    assert.deepEqual(judgeConfig(entry(key, value), [key]), [], key);
  }
});

test('the other side of a local talk gets only the fixed options, so anything else is refused there [S0-51]', () => {
  for (const [key, value] of OVERRIDDEN) {
    const judge = () => judgeConfig(entry(key, value), [], { overrides: 'fixed' });
    if (['core.fsmonitor', 'core.hookspath', 'core.editor'].includes(key)) assert.equal(judge()[0]?.key, key);
    else assert.throws(judge, /configuration is not allowed/, key);
  }
});

test('settings of git-lfs count where the operator lets its filter run [S0-51]', () => {
  const custom = entry('lfs.customtransfer.x.path', 'evil');
  assert.throws(() => judgeConfig(custom, ['filter.lfs.*']), /lfs\.customtransfer/);
  assert.equal(judgeConfig(custom, []).length, 1);
});

test('a listed pattern covers its section and not its neighbours, whatever the case [S0-51]', () => {
  assert.ok(isListed('filter.lfs.process', ['filter.lfs.*']));
  assert.ok(isListed('filter.LFS.clean', ['Filter.lfs.*']));
  assert.ok(!isListed('filter.lfsx.clean', ['filter.lfs.*']));
  assert.ok(!isListed('core.hookspath', ['filter.*']));
  assert.ok(!isListed('core.pagerx', ['core.pager']));
  assert.ok(!isListed('x.core.pager', ['core.pager']));
});
