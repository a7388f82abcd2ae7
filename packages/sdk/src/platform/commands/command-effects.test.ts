import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { StagedChange } from '../../changes/change-set.ts';
import type {
  CommandOutcome,
  EffectsKeeper,
  EffectsMode,
  ProtectedPath,
  RunningCommand,
} from '../../contracts/commands.ts';
import { type CommandRunnerOptions, createCommandRunner } from './command-runner.ts';

interface Setting {
  readonly root: string;
  readonly workspace: string;
  readonly kept: { how: string; changes: readonly StagedChange[] }[];
  start(script: string, mode?: EffectsMode): Promise<RunningCommand>;
  run(script: string, mode?: EffectsMode): Promise<CommandOutcome>;
}

function open(
  t: TestContext,
  options: Partial<CommandRunnerOptions> = {},
  protect?: (workspace: string) => readonly ProtectedPath[],
): Setting {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'effects-')));
  const [workspace, state] = [join(root, 'work, space: it\\s'), join(root, 'state')];
  mkdirSync(workspace);
  mkdirSync(state, { mode: 0o700 });
  const kept: Setting['kept'] = [];
  const keep = (how: string, changes: readonly StagedChange[]) => {
    kept.push({ how, changes });
    return 'id';
  };
  const keeper: EffectsKeeper = {
    apply: async (changes) => keep('apply', changes),
    hold: async (changes) => ({ change_id: keep('hold', changes), diff: '' }),
  };
  const runner = createCommandRunner({
    ...{ workspace, state, isolation: 'bubblewrap', allowedDomains: [] },
    ...(protect === undefined ? {} : { protectedPaths: protect(workspace) }),
    ...options,
  });
  t.after(async () => {
    await runner.close();
    assert.deepEqual(readdirSync(join(state, 'overlays')), []);
    rmSync(root, { recursive: true, force: true });
  });
  const start: Setting['start'] = (script, mode = 'recorded') =>
    runner.start({
      list: { pipelines: [{ operator: null, commands: [{ argv: ['sh', '-c', script], column: 1 }] }] },
      ...{ cwd: '.', env: {}, stdin: 'open', network: false, maxOutputBytes: 65_536 },
      ...{ effects: mode, keeper },
    });
  return {
    root,
    workspace,
    kept,
    start,
    run: async (script, mode) => (await start(script, mode)).done,
  };
}

/** `path before>after`, each by its kind. */
function summary({ kept }: Setting): readonly string[] {
  return (kept.at(-1)?.changes ?? []).map(({ path, before, after }) => `${path} ${before.kind}>${after.kind}`);
}

describe('commands on an overlay', () => {
  test('write to the overlay only, and what they wrote is the change set', async (t) => {
    const setting = open(t);
    const { workspace, run } = setting;
    mkdirSync(join(workspace, 'sub/deep'), { recursive: true });
    mkdirSync(join(workspace, 'gone'));
    for (const name of ['kept', 'edited', 'removed', 'sub/deep/x', 'sub/y', 'gone/z', 'same'])
      writeFileSync(join(workspace, name), `${name}\n`);
    const outcome = await run(
      'echo more >> edited; rm removed; touch same; mkdir -p new/folder; echo n > new/file; ln -s /etc/passwd link; rm -r gone; rm -r sub; mkdir sub; echo q > sub/q; id -u; pwd; cat kept',
    );
    assert.deepEqual([outcome.code, outcome.effectsProblem], [0, undefined], outcome.stderr.text);
    assert.equal(outcome.stdout.text, `${process.getuid?.()}\n${workspace}\nkept\n`);
    assert.deepEqual(summary(setting), [
      'edited file>file',
      'gone folder>absent',
      'gone/z file>absent',
      'link absent>link',
      'new absent>folder',
      'new/file absent>file',
      'new/folder absent>folder',
      'removed file>absent',
      'sub/deep folder>absent',
      'sub/deep/x file>absent',
      'sub/q absent>file',
      'sub/y file>absent',
    ]);
    assert.deepEqual(readdirSync(workspace).sort(), ['edited', 'gone', 'kept', 'removed', 'same', 'sub']);
    assert.equal(readFileSync(join(workspace, 'edited'), 'utf8'), 'edited\n');
    assert.equal(outcome.effects?.change_id, 'id');
    assert.equal(existsSync(join(workspace, 'link')), false);
  });

  test('see what earlier processes of the same list wrote', async (t) => {
    const { run } = open(t);
    const outcome = await run('echo a > a; sh -c "cat a; echo b > b" | cat; cat b');
    assert.equal(outcome.stdout.text, 'a\nb\n');
  });

  test('cannot change git data, the registry or the lock, and do not make them', async (t) => {
    const setting = open(t);
    const { workspace, run } = setting;
    mkdirSync(join(workspace, '.git'));
    writeFileSync(join(workspace, '.git/config'), 'old\n');
    const outcome = await run(
      'echo x > .git/config; rm -rf .git; mv .git other; echo x > tool-runtime.yaml; echo y > fine',
    );
    assert.match(outcome.stderr.text, /Read-only file system|busy/);
    assert.deepEqual(summary(setting), ['fine absent>file']);
    assert.deepEqual(outcome.effects?.leftOut, [{ path: 'tool-runtime.yaml', reason: 'protected name' }]);
  });

  test('keep folders on the way to a protected file on the overlay, and leave out pipes', async (t) => {
    const governing = (workspace: string) => [
      { path: join(workspace, 'conf/deep/policy'), access: 'read_only' as const },
    ];
    const setting = open(t, {}, governing);
    const { workspace, run } = setting;
    mkdirSync(join(workspace, 'conf/deep'), { recursive: true });
    writeFileSync(join(workspace, 'conf/deep/policy'), 'strict\n');
    const outcome = await run(
      'echo x > conf/deep/beside; echo x > conf/beside; echo x > conf/deep/policy; mkfifo pipe; rm -rf conf',
    );
    assert.deepEqual(readdirSync(join(workspace, 'conf')), ['deep']);
    assert.deepEqual(readdirSync(join(workspace, 'conf/deep')), ['policy']);
    assert.equal(readFileSync(join(workspace, 'conf/deep/policy'), 'utf8'), 'strict\n');
    assert.deepEqual(outcome.effects?.leftOut, [{ path: 'pipe', reason: 'pipe' }]);
    assert.deepEqual(summary(setting), []);
    await run('echo x > conf/deep/beside');
    assert.deepEqual(summary(setting), ['conf/deep/beside absent>file']);
    assert.equal(existsSync(join(workspace, 'conf/deep/beside')), false);
  });

  test('that changed what someone else changed meanwhile are a conflict, and nothing is applied', async (t) => {
    const setting = open(t);
    const { workspace } = setting;
    writeFileSync(join(workspace, 'shared'), 'old\n');
    const command = await setting.start('echo mine > shared; echo begun > begun; read line');
    const overlays = join(setting.root, 'state/overlays');
    const begun = () => readdirSync(overlays, { recursive: true }).some((name) => String(name).endsWith('upper/begun'));
    while (!begun()) await new Promise((resolve) => setTimeout(resolve, 10));
    writeFileSync(join(workspace, 'shared'), 'theirs\n');
    await command.write(Buffer.from('go\n'));
    await assert.rejects(command.done, (error: { details?: Record<string, unknown> }) => {
      assert.equal(error.details?.['reason'], 'changed_meanwhile');
      assert.deepEqual(error.details?.['paths'], ['shared']);
      return true;
    });
    assert.deepEqual(setting.kept, []);
    assert.equal(readFileSync(join(workspace, 'shared'), 'utf8'), 'theirs\n');
  });

  test('that write more than can be recorded fail with what they printed, and nothing is applied', async (t) => {
    const setting = open(t);
    await assert.rejects(
      setting.run('truncate -s 3G huge; echo done'),
      (error: { details?: Record<string, unknown> }) => {
        const { reason, code, stdout } = error.details ?? {};
        assert.deepEqual([reason, code, stdout], ['effects_too_large', 0, 'done\n']);
        return true;
      },
    );
    assert.deepEqual(setting.kept, []);
    assert.equal(existsSync(join(setting.workspace, 'huge')), false);
  });

  test('where there is no sandbox: a preview is refused, a recorded command runs and says so', async (t) => {
    const { run, workspace, root } = open(t, { isolation: 'none' });
    mkdirSync(join(root, 'state/overlays'));
    await assert.rejects(run('echo x > x', 'preview'), /cannot run on an overlay/);
    assert.equal(existsSync(join(workspace, 'x')), false);
    const outcome = await run('echo x > x');
    assert.match(outcome.effectsProblem ?? '', /cannot run on an overlay/);
    assert.equal(existsSync(join(workspace, 'x')), true);
  });
});
