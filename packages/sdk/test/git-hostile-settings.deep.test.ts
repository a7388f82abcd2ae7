/**
 * Settings of a repository, its attributes, its submodules and its local remotes that make plain git start a program or
 * drop one side of a merge. Each control shows that plain git does it.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type CanaryScene, createCanaryScene } from './git-canary.ts';
import { type GitRuntime, openGitRuntime } from './git-repository.ts';

const REGISTRY = 'version: 1\ngit: {allow_push: true}\nvalidators: [{rule: code.todo.blockers}]\n';

async function withScene(use: (scene: CanaryScene, runtime: GitRuntime) => Promise<void>): Promise<void> {
  const scene = createCanaryScene({ hooks: false });
  const runtime = await openGitRuntime(scene, { registry: REGISTRY });
  try {
    await use(scene, runtime);
    assert.equal(scene.seen(), '', 'the program did not run');
  } finally {
    await runtime.dispose();
    scene.dispose();
  }
}

function plainGit({ folder }: CanaryScene, ...words: readonly string[]): number | null {
  const env = { ...process.env, GIT_EDITOR: 'true', GIT_SEQUENCE_EDITOR: 'true', GIT_CONFIG_GLOBAL: '/dev/null' };
  return spawnSync('git', words, { cwd: folder, env }).status;
}

describe('settings that would start a program', () => {
  test('a line of a rebase plan made from rebase.instructionFormat', () =>
    withScene(async (scene, runtime) => {
      scene.git('config', 'rebase.instructionFormat', `%s%nexec ${scene.program} plan`);
      scene.git('branch', 'control', 'topic');
      plainGit(scene, 'rebase', '--interactive', 'main', 'control');
      assert.match(scene.seen(), /plan/, 'control: plain git runs the program');
      plainGit(scene, 'rebase', '--abort');
      scene.git('switch', '--quiet', 'main');
      await runtime.call('git_rebase', { onto: 'main', branch: 'topic' });
      assert.equal(scene.git('rev-list', '--count', 'main..topic').trim(), '1');
    }));

  test('a strategy of pull.twohead that an alias makes a program: the one is refused, the other overridden', () =>
    withScene(async (scene, runtime) => {
      scene.git('config', 'pull.twohead', 'evil');
      plainGit(scene, '-c', `alias.merge-evil=!${scene.program} strategy`, 'rebase', '--force-rebase', 'main', 'topic');
      assert.match(scene.seen(), /strategy/, 'control: plain git runs the program');
      plainGit(scene, 'rebase', '--abort');
      for (const strategy of ['evil', 'ours', 'ort ours', '']) {
        scene.git('config', 'pull.twohead', strategy);
        assert.equal((await runtime.refused('git_status')).details?.['key'], 'pull.twohead', strategy);
      }
      scene.git('config', 'pull.twohead', 'ort');
      scene.git('config', 'alias.merge-evil', `!${scene.program}`);
      assert.match((await runtime.ask('git_status')).warnings[0]?.message ?? '', /alias\.merge-evil/);
      scene.git('config', '--unset', 'alias.merge-evil');
      scene.git('config', 'alias.st', `!${scene.program}`);
      scene.git('switch', '--quiet', 'main');
      await runtime.call('git_rebase', { onto: 'main', branch: 'topic' });
    }));

  test('the configuration of a submodule whose changes .gitmodules wants to be shown', () =>
    withScene(async (scene, runtime) => {
      scene.git('init', '--quiet', 'sub');
      for (const words of [
        ['user.name', 'x'],
        ['user.email', 'x@example.org'],
      ])
        scene.git('-C', 'sub', 'config', ...words);
      scene.write({ 'sub/f.txt': 'f\n' });
      scene.git('-C', 'sub', 'add', '--all');
      scene.git('-C', 'sub', 'commit', '--quiet', '-m', 'x');
      scene.write({ '.gitmodules': '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n' });
      scene.git('-c', 'advice.addEmbeddedRepo=false', 'add', '.gitmodules', 'sub');
      scene.git('commit', '--quiet', '-m', 'chore: sub');
      scene.write({ 'sub/.gitattributes': '* filter=evil\n', 'sub/f.txt': 'g\n' });
      scene.git('-C', 'sub', 'config', 'filter.evil.clean', `${scene.program} sub`);
      plainGit(scene, 'status');
      assert.match(scene.seen(), /sub/, 'control: plain git runs the program');
      scene.write({ 'b.txt': 'changed\n' });
      const ran: string[] = [];
      for (const [tool, args] of [
        ['git_status', {}],
        ['git_diff', {}],
        ['git_stash', { action: 'push' }],
        ['git_stash', { action: 'pop' }],
        ['git_add', { paths: ['b.txt'] }],
        ['git_commit', { message: 'feat: b' }],
        ['git_checkout', { target: 'other' }],
        ['git_checkout', { target: 'main' }],
        ['git_merge', { branch: 'other' }],
        ['git_rebase', { onto: 'main', branch: 'topic' }],
        ['validate', {}],
        ['validate', { scope: 'head' }],
        ['git_restore', { paths: ['b.txt'] }],
        ['git_merge', { branch: 'side', squash: true }],
      ] as const) {
        await runtime.ask(tool, args);
        if (scene.seen() !== '') ran.push(tool);
      }
      assert.deepEqual(ran, []);
    }));
});

describe('a local remote', () => {
  const REFUSED = [
    'core.alternateRefsCommand',
    'uploadpack.packObjectsHook',
    'receive.procReceiveRefs',
    'filter.evil.clean',
    'include.path',
    'gpg.ssh.program',
  ];
  const CLOSED = ['core.fsmonitor', 'core.hooksPath', 'gpg.program'];

  test('its configuration is judged like our own, for every verb that talks to it', () =>
    withScene(async (scene, runtime) => {
      const config = (...words: readonly string[]) => scene.git('--git-dir', scene.remote, 'config', ...words);
      config('receive.denyNonFastForwards', 'true');
      await runtime.call('git_push');
      for (const key of REFUSED) {
        config(key, key === 'include.path' ? 'nothing' : scene.program);
        const tools = key === REFUSED[0] ? ['git_push', 'git_fetch', 'git_pull'] : ['git_push'];
        for (const tool of tools) {
          const error = await runtime.refused(tool);
          assert.deepEqual([error.code, String(error.details?.['key'])], ['E_POLICY', key.toLowerCase()], tool);
          assert.match(error.message, /^Remote origin: configuration is not allowed/);
        }
        config('--unset', key);
      }
      for (const key of CLOSED) config(key, scene.program);
      await runtime.call('git_push', { refspec: 'other:refs/heads/closed' });
      await runtime.call('git_fetch');
    }));

  test('a command for borrowed objects: plain git runs it, a remote that borrows is refused', () =>
    withScene(async (scene, runtime) => {
      const alternates = join(scene.remote, 'objects/info/alternates');
      writeFileSync(alternates, `${scene.path('.git/objects')}\n`);
      scene.git('--git-dir', scene.remote, 'config', 'core.alternateRefsCommand', `${scene.program} refs`);
      plainGit(scene, 'push', 'origin', 'main:control');
      assert.match(scene.seen(), /refs/, 'control: plain git runs the program');
      scene.git('--git-dir', scene.remote, 'config', '--unset', 'core.alternateRefsCommand');
      assert.equal((await runtime.refused('git_push')).details?.['reason'], 'alternates');
      rmSync(alternates);
    }));

  test('keys of the remote in our own configuration have no say: the judged address is the one that is contacted', () =>
    withScene(async (scene, runtime) => {
      scene.git('config', 'remote.origin.fetch', '+refs/heads/*:refs/heads/*');
      scene.git('config', 'remote.origin.push', '+refs/heads/*:refs/heads/*');
      scene.git('config', 'remote.origin.mirror', 'true');
      const before = scene.git('for-each-ref', 'refs/heads/');
      await runtime.call('git_push', { refspec: 'other:refs/heads/main2' });
      await runtime.call('git_fetch');
      assert.equal(scene.git('for-each-ref', 'refs/heads/'), before, 'no local branch moved');
      const refs = scene.git('--git-dir', scene.remote, 'for-each-ref', '--format=%(refname)').trim().split('\n');
      assert.deepEqual(refs, ['refs/heads/main', 'refs/heads/main2']);
    }));
});

describe('rewrites of addresses', () => {
  test('are followed as git would, and the result is judged; no rule reaches the checked address', () =>
    withScene(async (scene, runtime) => {
      const elsewhere = join(scene.beside, 'elsewhere.git');
      scene.git('init', '--quiet', '--bare', '--initial-branch=main', elsewhere);
      const mainOf = (repository: string) => scene.git('--git-dir', repository, 'for-each-ref', 'refs/heads/');
      // They match every text there is, so they match the name that git is given.
      for (const prefix of ['', 't', 'tool-runtime-']) {
        scene.git('config', '--add', `url.${elsewhere}/x.pushInsteadOf`, prefix);
        scene.git('config', '--add', `url.${elsewhere}/x.insteadOf`, prefix);
      }
      const caught = await runtime.refused('git_push', { refspec: 'other:refs/heads/caught' });
      assert.equal(caught.details?.['reason'], 'remote_not_found', 'an empty prefix matches the address itself');
      for (const key of ['pushInsteadOf', 'insteadOf']) {
        scene.git('config', '--unset-all', `url.${elsewhere}/x.${key}`);
        for (const prefix of ['t', 'tool-runtime-']) scene.git('config', '--add', `url.${elsewhere}.${key}`, prefix);
      }
      await runtime.call('git_push', { refspec: 'other:refs/heads/checked' });
      await runtime.call('git_fetch');
      assert.match(mainOf(scene.remote), /checked/);
      assert.equal(mainOf(elsewhere), '', 'nothing went elsewhere');
      scene.git('config', '--add', `url.${elsewhere}.insteadOf`, 'short:');
      scene.git('config', 'remote.origin.url', 'short:');
      await runtime.call('git_push', { refspec: 'other:refs/heads/short' });
      assert.match(mainOf(elsewhere), /short/);
    }));
});

describe('settings of merges drop no side', () => {
  const SETTINGS: readonly (readonly [key: string, value: string])[] = [
    ['pull.octopus', 'ours'],
    ['branch.main.mergeoptions', '-s ours'],
    ['branch.main.mergeoptions', '-Xours'],
    ['branch.main.mergeoptions', '--squash -Xtheirs'],
    ['merge.renames', 'false'],
  ];

  for (const [key, value] of SETTINGS) {
    test(`${key} = ${value}`, () =>
      withScene(async (scene, runtime) => {
        scene.git('config', key, value);
        await assertBothSides(scene, runtime);
      }));
  }

  test('attributes that name a driver: an unknown one is a plain merge, binary a conflict, union keeps both', () =>
    withScene(async (scene, runtime) => {
      scene.write({ '.git/info/attributes': '*.txt merge=ours filter=evil diff=evil working-tree-encoding=UTF-8\n' });
      await assertBothSides(scene, runtime);
      scene.write({ '.git/info/attributes': '*.txt merge=binary\n' });
      const binary = await runtime.call<{ conflicts: string[] }>('git_merge', { branch: 'side' });
      assert.deepEqual(binary.conflicts, ['a.txt']);
      await runtime.call('git_abort');
      scene.write({ '.git/info/attributes': '*.txt merge=union\n' });
      await runtime.call('git_merge', { branch: 'side' });
      assert.equal(scene.git('show', 'HEAD:a.txt'), 'main\nside\n');
    }));

  test('the control: plain git drops the other side by pull.twohead and by a configured driver', () =>
    withScene(async (scene, runtime) => {
      scene.git('branch', 'control');
      scene.git('-c', 'pull.twohead=ours', 'merge', '--quiet', '--no-edit', 'other');
      assert.equal(existsSync(scene.path('other.txt')), false);
      scene.git('reset', '--quiet', '--hard', 'control');
      scene.write({ '.git/info/attributes': 'a.txt merge=ours\n' });
      scene.git('-c', 'merge.ours.driver=true', 'merge', '--quiet', '--no-edit', 'side');
      assert.equal(scene.git('show', 'HEAD:a.txt'), 'main\n', 'control: the driver drops the other side');
      scene.git('reset', '--quiet', '--hard', 'control');
      scene.git('config', 'merge.ours.driver', 'true');
      await assertBothSides(scene, runtime);
      scene.git('config', 'merge.default', 'ours');
      scene.write({ '.git/info/attributes': '' });
      await assertBothSides(scene, runtime);
    }));

  async function assertBothSides(scene: CanaryScene, runtime: GitRuntime): Promise<void> {
    await runtime.call('git_merge', { branch: 'other' });
    assert.equal(scene.git('show', 'HEAD:other.txt'), 'other\n');
    const { conflicts } = await runtime.call<{ conflicts: string[] }>('git_merge', { branch: 'side' });
    assert.deepEqual(conflicts, ['a.txt'], 'the other side is not dropped but in conflict');
    await runtime.call('git_abort');
    await runtime.call('git_rebase', { onto: 'main', branch: 'topic' });
    assert.equal(scene.git('show', 'topic:topic.txt'), 'topic\n');
    scene.git('switch', '--quiet', 'main');
  }
});
