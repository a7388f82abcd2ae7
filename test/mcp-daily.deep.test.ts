/**
 * A day of work in five repositories, through MCP on stdio of the real command: find, rename, test, commit, push over HTTP
 * and over ssh, resolve a merge conflict, recover. After every step files, history and remote are looked at from outside.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type SshServer, startSshServer } from '../packages/sdk/test/ssh-server.ts';
import { type DailyScene, openDailyScene } from './daily/daily-scene.ts';
import { POINTER, PROJECTS, type Project } from './daily/projects.ts';

let ssh: SshServer;
before(async () => {
  ssh = await startSshServer();
});
after(() => ssh.close());

describe('a day of work through MCP', () => {
  for (const project of PROJECTS) {
    test(`${project.language}: find, rename, test, commit, push both ways, merge, recover [S0-45 S0-49 S0-51]`, async () => {
      const { language, ...options } = project;
      await using scene = await openDailyScene(language, { ssh, ...options });
      const [first, second, third] = project.names;
      await find(scene, project);
      await rename(scene, project, [first, second]);
      await runTests(scene, project);
      await OWN_STEPS[language]?.(scene);
      await commit(scene, `refactor: rename ${first}`);
      await pushOverHttp(scene);
      const theirs = scene.colleague(project.path, (text) => text.replaceAll(second, 'theirName'));
      await rename(scene, project, [second, third]);
      await commit(scene, `refactor: rename ${second}`);
      await mergeTheirs(scene, project, theirs);
      await pushOverSsh(scene);
      await recover(scene, project);
    });
  }
});

const OWN_STEPS: { readonly [Language in Project['language']]?: (scene: DailyScene) => Promise<void> } = {
  /** husky runs the tests in the sandbox before every commit. */
  async javascript(scene) {
    const [path, good] = ['test/compare.test.js', scene.read('test/compare.test.js')];
    await scene.call('file_write', { path, content: good.replace("'2.0.0'", "'3.0.0'") });
    await scene.call('git_add', { paths: ['.'] });
    const head = scene.git('rev-parse', 'HEAD');
    const refused = await scene.refused('git_commit', { message: 'test: wrong' });
    assert.match(refused, /^E_POLICY: .*pre-commit/);
    assert.match(refused, /# fail 1/, 'with what the hook printed');
    assert.equal(scene.git('rev-parse', 'HEAD'), head);
    assert.ok(!existsSync(join(ssh.home, 'escaped')), 'the home folder of a hook is not ours');
    await scene.call('git_restore', { paths: [path], source: 'HEAD', staged: true, worktree: true });
    assert.equal(scene.read(path), good);
  },
  /** git-lfs is not there: pointers are read and kept, contents are not staged in their place. */
  async python(scene) {
    assert.match(await scene.call('file_read', { path: 'data/model.bin' }), /oid sha256:4d7a2146/);
    await scene.call('file_write', { path: 'data/model.bin', content: 'weights\n' });
    assert.match(await scene.refused('git_add', { paths: ['data/model.bin'] }), /lfs/i);
    await scene.call('git_restore', { paths: ['data/model.bin'], source: 'HEAD' });
    assert.equal(scene.read('data/model.bin'), POINTER);
  },
  /** Two files are not as gofmt writes them: the commit is refused until they are. */
  async go(scene) {
    await scene.call('git_add', { paths: ['.'] });
    const refused = await scene.refused('git_commit', { message: 'refactor: x' });
    assert.match(refused, /^E_VALIDATION_FAIL: Format failed/);
    assert.match(refused, /example_test\.go/);
    await scene.call('shell_exec', { cmd: 'gofmt -w $(gofmt -l .)' });
  },
};

async function find(scene: DailyScene, { path, names: [name] }: Project): Promise<void> {
  const found = await scene.call('grep', { pattern: name });
  assert.ok(found.includes(path), found);
  assert.match(found, new RegExp(`\\b${name}\\b`));
}

async function rename(
  scene: DailyScene,
  { path, uses }: Project,
  [from, to]: readonly [string, string],
): Promise<void> {
  assert.match(await scene.call('tool_search', { query: 'rename a function' }), /^\{"tools":\[\{"name":"ast_edit"/);
  const declared = await scene.call('ast_query', { where: { name_like: from } });
  const id = /\[([^\s\]]+)/.exec(declared)?.[1];
  const edited = await scene.call('ast_edit', { operation: 'rename_symbol', target_node_id: id, new_name: to });
  // A slow server may say that its diagnostics come later.
  assert.match(edited, new RegExp(`^edited ${uses} places`, 'm'));
  assert.ok(edited.includes(path));
  const left = scene.git('grep', '--word-regexp', '--count', to, '--', path);
  assert.match(left, /:[1-9]/);
  const added = scene.git('diff', '--unified=0', 'HEAD', '--').match(new RegExp(`^\\+.*\\b${to}\\b`, 'gm'));
  assert.equal(added?.length, uses);
}

async function runTests(scene: DailyScene, { test: { cmd, passed } }: Project): Promise<void> {
  const answer = await scene.call('shell_exec', { cmd, timeout_ms: 120_000 });
  assert.match(answer, /^exit 0\n/);
  assert.match(answer, passed);
}

async function commit(scene: DailyScene, message: string): Promise<void> {
  const parent = scene.git('rev-parse', 'HEAD');
  await scene.call('git_add', { paths: ['.'] });
  const answer = await scene.call('git_commit', { message });
  const head = scene.git('rev-parse', 'HEAD');
  assert.match(answer, new RegExp(`^committed ${head}`, 'm'));
  assert.equal(scene.git('log', '-1', '--format=%P %an %s'), `${parent} Ada ${message}`);
  assert.equal(scene.git('status', '--porcelain'), '');
}

async function pushOverHttp(scene: DailyScene): Promise<void> {
  const head = scene.git('rev-parse', 'HEAD');
  assert.notEqual(scene.remoteHead(), head);
  assert.match(
    await scene.call('git_push', { remote: 'web', set_upstream: false }),
    new RegExp(`^pushed ${head.slice(0, 12)}`, 'm'),
  );
  assert.equal(scene.remoteHead(), head);
}

async function mergeTheirs(scene: DailyScene, project: Project, theirs: string): Promise<void> {
  const { path, names } = project;
  const ours = scene.git('rev-parse', 'HEAD');
  assert.match(await scene.refused('git_push'), /^E_GIT: Remote refused the push: \[rejected\]/);
  assert.equal(scene.remoteHead(), theirs);
  assert.match(await scene.refused('git_pull'), /git_pull \{"rebase":false\}/);
  assert.equal(scene.git('rev-parse', 'HEAD'), ours, 'a rebase with conflicts is undone');
  assert.match(await scene.call('git_pull', { rebase: false }), new RegExp(`conflicts in:\n  ${path}`));
  assert.match(scene.git('status', '--porcelain'), new RegExp(`^UU ${path}$`, 'm'));
  const conflicts = await scene.call('git_conflicts');
  assert.match(conflicts, new RegExp(`<<<<<<< ours\n.*${names[2]}[\\s\\S]*=======\n.*theirName`));
  await scene.refused('git_continue');
  const resolved = scene.read(path).replaceAll(/^<<<<<<< .*\n([\s\S]*?)^=======\n[\s\S]*?^>>>>>>> .*\n/gm, '$1');
  await scene.call('file_write', { path, content: resolved });
  await runTests(scene, project);
  await scene.call('git_add', { paths: [path] });
  assert.match(await scene.call('git_continue'), /^merge finished on main/m);
  assert.equal(scene.git('log', '-1', '--format=%P'), `${ours} ${theirs}`);
  assert.equal(scene.git('status', '--porcelain'), '');
  assert.ok(!scene.read(path).includes('theirName'));
}

async function pushOverSsh(scene: DailyScene): Promise<void> {
  const logins = () => ssh.log().match(/Accepted publickey/g)?.length ?? 0;
  const before = logins();
  await scene.call('git_push');
  assert.equal(scene.remoteHead(), scene.git('rev-parse', 'HEAD'));
  assert.ok(logins() > before, 'by a login with the key of the agent');
  assert.match(await scene.call('git_status'), /origin\/main: 0 ahead, 0 behind/);
}

async function recover(scene: DailyScene, project: Project): Promise<void> {
  const { path } = project;
  const [text, head] = [scene.read(path), scene.git('rev-parse', 'HEAD')];
  await scene.call('fs_delete', { path });
  assert.ok(!existsSync(join(scene.folder, path)));
  await scene.call('git_recover');
  assert.equal(scene.read(path), text);
  assert.equal(scene.git('rev-parse', 'HEAD'), head);
  await scene.call('file_write', { path: 'notes.txt', content: 'not meant to be committed\n' });
  await commit(scene, 'docs: oops');
  const bad = scene.git('rev-parse', 'HEAD');
  const refused = await scene.refused('git_recover');
  assert.match(refused, /docs: oops/, 'it says which commits would be dropped');
  assert.equal(scene.git('rev-parse', 'HEAD'), bad);
  const named = /refs\/tool-runtime\/recovery\/[\w-]+/.exec(refused)?.[0];
  await scene.call('git_recover', { recovery: named });
  assert.equal(scene.git('rev-parse', 'HEAD'), head);
  await runTests(scene, project);
  assert.equal(scene.git('fsck', '--no-dangling', '--strict'), '');
}
