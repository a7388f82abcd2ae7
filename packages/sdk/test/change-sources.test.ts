/** Change sets of calls that change files by other means than the workspace: external tools, commands of rules, git verbs. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ToolResponse } from '@tool-runtime/protocol';
import type { Session } from '../src/session/session.ts';
import { openScratchRuntime } from '../src/testing/scratch-runtime.ts';
import { openExternalScene, type Scene } from './external-scene.ts';
import { createRepository, type TestRepository } from './git-repository.ts';

interface Listed {
  readonly change_id: string;
  readonly tool: string;
  readonly recovery?: string;
  readonly paths: readonly { readonly path: string; readonly change: string }[];
}

async function listed(session: Session): Promise<readonly Listed[]> {
  const { data, errors } = await session.call('change_list', {});
  assert.deepEqual(errors, []);
  return (data as unknown as { changes: readonly Listed[] }).changes;
}

const effectsOf = ({ data, errors }: ToolResponse) => {
  assert.deepEqual(errors, []);
  return (data as { effects?: { mode: string; added: string[]; modified: string[]; diff?: string } }).effects;
};

async function withWriter(effects: string, use: (scene: Scene) => Promise<void>): Promise<void> {
  const scene = await openExternalScene({
    tools: ['name: writer, writable: true', 'name: reader'],
    registry: [`effects: ${effects}`],
  });
  try {
    writeFileSync(join(scene.workspace, 'old'), 'one\n');
    await use(scene);
  } finally {
    await scene.dispose();
  }
}

const WORK = 'cd "$TOOL_PROJECT_ROOT" && echo two >> old && echo new > made; result';

describe('external tools that may write in the workspace', () => {
  test('leave a change set where effects are recorded, and it can be undone', () =>
    withWriter('recorded', async ({ session, workspace }) => {
      const answer = await session.call('writer', { args: [WORK] });
      assert.deepEqual(effectsOf(answer)?.added, ['made']);
      assert.equal(readFileSync(join(workspace, 'old'), 'utf8'), 'one\ntwo\n');
      const [set] = await listed(session);
      assert.deepEqual([set?.change_id, set?.tool], [answer.change_id, 'writer']);
      assert.deepEqual((await session.call('change_undo', { change_id: answer.change_id ?? '' })).errors, []);
      assert.equal(readFileSync(join(workspace, 'old'), 'utf8'), 'one\n');
      assert.equal(existsSync(join(workspace, 'made')), false);
    }));

  test('change nothing where effects are previewed, until change_apply', () =>
    withWriter('preview', async ({ session, workspace }) => {
      const answer = await session.call('writer', { args: [WORK] });
      assert.match(effectsOf(answer)?.diff ?? '', /\+\+\+ b\/made\n[\s\S]*\+new\n/);
      assert.equal(existsSync(join(workspace, 'made')), false);
      assert.deepEqual((await session.call('change_apply', { change_id: answer.change_id ?? '' })).errors, []);
      assert.equal(readFileSync(join(workspace, 'made'), 'utf8'), 'new\n');
    }));

  test('write at once where effects are direct, and those that may only read leave nothing', () =>
    withWriter('direct', async ({ session, workspace }) => {
      const direct = await session.call('writer', { args: [WORK] });
      assert.deepEqual([effectsOf(direct), direct.change_id], [undefined, undefined]);
      assert.ok(existsSync(join(workspace, 'made')));
      assert.equal(effectsOf(await session.call('reader', { args: ['result'] })), undefined);
    }));
});

async function withGit(
  registry: readonly string[],
  use: (session: Session, repository: TestRepository) => Promise<void>,
): Promise<void> {
  const repository = createRepository({ files: { 'a.txt': 'one\n', 'b.txt': 'b\n', '.gitignore': 'out/\n' } });
  const text = ['version: 1', 'protected_branches: []', ...registry, ''].join('\n');
  const scratch = await openScratchRuntime({ workspace: repository.folder, registry: { file: 'ops.yaml', text } });
  try {
    await use(scratch.session, repository);
  } finally {
    await scratch.dispose();
    repository.dispose();
  }
}

describe('commands of rules', () => {
  test('belong to the change set of the call that they check, whether it passes or not', () =>
    withGit(
      [
        'effects: recorded',
        'validators: [{ rule: build.must.pass, enforcement: blocking }]',
        'commands: { build: sh build.sh }',
      ],
      async (session, repository) => {
        const build = (code: number) => `mkdir -p out && date +%N > out/built; exit ${code}\n`;
        repository.commit({ 'build.sh': build(0), 'a.txt': 'two\n' });
        repository.write({ 'a.txt': 'three\n' });
        repository.git('add', '.');
        const passed = await session.call('git_commit', { message: 'feat: three' });
        assert.deepEqual(passed.errors, []);
        const [set] = await listed(session);
        assert.deepEqual([set?.change_id, set?.tool], [passed.change_id, 'git_commit']);
        assert.deepEqual(
          set?.paths.map(({ path }) => path),
          ['out', 'out/built'],
        );
        repository.write({ 'build.sh': build(1) });
        repository.git('add', '.');
        const refused = await session.call('git_commit', { message: 'feat: four' });
        assert.equal(refused.ok, false);
        assert.equal((await listed(session))[0]?.change_id, refused.change_id);
        const undone = await session.call('change_undo', { change_id: passed.change_id ?? '', through_now: true });
        assert.deepEqual([undone.errors, existsSync(repository.path('out'))], [[], false]);
      },
    ));
});

describe('git verbs', () => {
  test('leave a change set with the files they changed and the point to go back to', () =>
    withGit([], async (session, repository) => {
      repository.write({ 'a.txt': 'dirty\n', 'b.txt': null });
      const answer = await session.call('git_restore', { paths: ['.'] });
      assert.deepEqual(answer.errors, []);
      const [set] = await listed(session);
      assert.deepEqual([set?.change_id, set?.tool], [answer.change_id, 'git_restore']);
      assert.deepEqual(set?.paths, [
        { path: 'a.txt', change: 'changed' },
        { path: 'b.txt', change: 'created' },
      ]);
      assert.equal(set?.recovery, (answer.data as { recovery: string }).recovery);
      const shown = await session.call('change_show', { change_id: answer.change_id ?? '' });
      assert.match(JSON.stringify(shown.data), /-dirty.*\+one/);
      const refused = await session.call('change_undo', { change_id: answer.change_id ?? '' });
      assert.equal(refused.errors[0]?.details?.['reason'], 'git_verb');
      assert.match(String(refused.errors[0]?.details?.['next']), /git_recover/);
      const alone = await session.call('change_undo', { change_id: answer.change_id ?? '', paths: ['a.txt'] });
      assert.deepEqual([alone.errors, readFileSync(repository.path('a.txt'), 'utf8')], [[], 'dirty\n']);
      const back = await session.call('git_recover', { recovery: set?.recovery ?? '' });
      assert.deepEqual(back.errors, []);
      assert.equal(existsSync(repository.path('b.txt')), false);
    }));

  test('that switch branches name every file, and one that fails names what it did', () =>
    withGit([], async (session, repository) => {
      repository.git('switch', '-q', '-c', 'other');
      repository.commit({ 'a.txt': 'other\n', 'sub/new.txt': 'new\n' });
      repository.git('switch', '-q', 'main');
      const answer = await session.call('git_checkout', { ref: 'other' });
      assert.deepEqual(answer.errors, []);
      const [set] = await listed(session);
      assert.equal(set?.change_id, answer.change_id);
      assert.deepEqual(
        set?.paths.map(({ path, change }) => `${change} ${path}`),
        ['changed a.txt', 'created sub/new.txt'],
      );
      repository.commit({ 'a.txt': 'more\n' });
      repository.git('switch', '-q', 'main');
      repository.commit({ 'a.txt': 'mine\n', 'c.txt': 'c\n' });
      const merged = await session.call('git_merge', { ref: 'other' });
      const [last] = await listed(session);
      assert.equal(last?.tool, 'git_merge');
      assert.equal(last?.change_id, merged.change_id);
      assert.ok(last?.paths.some(({ path }) => path === 'sub/new.txt'));
      assert.ok(readdirSync(repository.folder).includes('sub'));
    }));
});
