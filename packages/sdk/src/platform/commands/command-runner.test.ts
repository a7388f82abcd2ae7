import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { CommandList, ListOperator } from '../../contracts/command-list.ts';
import type { CommandOutcome, CommandRequest, Isolation, OpenCommandRunner } from '../../contracts/commands.ts';
import { OFFLINE_VARIABLES } from '../../shell/environment.ts';
import { createSpawner } from '../processes/spawner.ts';
import { createBubblewrap } from '../sandbox/isolation-bubblewrap.ts';
import { createNoIsolation } from '../sandbox/session-sandbox.ts';
import { type CommandRunnerOptions, createCommandRunner } from './command-runner.ts';

type Command = readonly string[];

/** `['|', a, b]` is a pipeline; a bare command is one of its own. */
function list(...parts: readonly (ListOperator | Command | { readonly pipe: readonly Command[] })[]): CommandList {
  const pipelines: CommandList['pipelines'][number][] = [];
  let operator: ListOperator | null = null;
  for (const part of parts) {
    if (typeof part === 'string') operator = part;
    else {
      const commands = 'pipe' in part ? part.pipe : [part];
      pipelines.push({ operator, commands: commands.map((argv) => ({ argv, column: 1 })) });
    }
  }
  return { pipelines };
}

const sh = (script: string, ...args: readonly string[]): Command => ['sh', '-c', script, 'sh', ...args];

function request(commands: CommandList, more: Partial<CommandRequest> = {}): CommandRequest {
  return { list: commands, cwd: '.', env: {}, stdin: null, network: false, maxOutputBytes: 1024 * 1024, ...more };
}

interface Setting {
  readonly workspace: string;
  readonly state: string;
  readonly runner: OpenCommandRunner;
  run(commands: CommandList, more?: Partial<CommandRequest>): Promise<CommandOutcome>;
}

function open(t: TestContext, options: Partial<CommandRunnerOptions> = {}): Setting {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'runner-')));
  const [workspace, state] = [join(root, 'workspace'), join(root, 'state')];
  mkdirSync(workspace);
  mkdirSync(state, { mode: 0o700 });
  const runner = createCommandRunner({ workspace, state, isolation: 'bubblewrap', allowedDomains: [], ...options });
  t.after(async () => {
    await runner.close();
    rmSync(root, { recursive: true, force: true });
  });
  const run: Setting['run'] = async (commands, more) => (await runner.start(request(commands, more))).done;
  return { workspace, state, runner, run };
}

const SANDBOXES = [
  { name: 'bubblewrap, native start', options: { isolation: 'bubblewrap' } },
  {
    name: 'bubblewrap, started by Node (deep)',
    options: { isolation: 'bubblewrap', spawner: createSpawner({ backend: 'node' }) },
  },
  { name: 'no sandbox', options: { isolation: 'none' } },
] as const;

for (const { name, options } of SANDBOXES) {
  describe(`commands behind ${name}`, () => {
    test('4.17 answer their output and exit code [S0-36]', async (t) => {
      const { run } = open(t, options);
      const outcome = await run(list(sh('echo out; echo err >&2; exit 3')));
      assert.equal(outcome.code, 3);
      assert.equal(outcome.signal, null);
      assert.deepEqual(outcome.stdout, { text: 'out\n', totalBytes: 4, truncated: false });
      assert.equal(outcome.stderr.text, 'err\n');
      assert.equal(outcome.networkEnforced, options.isolation === 'bubblewrap');
      assert.equal(outcome.quarantined, undefined);
    });

    test('start in their folder, with a clean environment and what was given [S0-36]', async (t) => {
      const { run, workspace } = open(t, options);
      mkdirSync(join(workspace, 'sub folder'));
      process.env['WALL_TEST_SECRET'] = 'CANARY';
      t.after(() => delete process.env['WALL_TEST_SECRET']);
      const { stdout } = await run(list(sh('pwd; env')), { cwd: 'sub folder', env: { GIVEN: 'yes' } });
      const [cwd, ...env] = stdout.text.trimEnd().split('\n');
      assert.equal(cwd, join(workspace, 'sub folder'));
      const names = env
        .map((line) => line.split('=')[0])
        .filter((each) => each !== '_' && each !== 'SHLVL' && each !== 'LC_ALL')
        .filter((each) => !Object.hasOwn(OFFLINE_VARIABLES, each ?? ''));
      assert.deepEqual(names.sort(), ['GIVEN', 'HOME', 'LANG', 'PATH', 'PWD', 'TERM', 'TMPDIR']);
      assert.doesNotMatch(stdout.text, /CANARY/);
    });

    test('read their input to its end, and find it at the end when there is none [S0-36]', async (t) => {
      const { run } = open(t, options);
      const bytes = Buffer.from('ö'.repeat(300_000));
      assert.equal((await run(list(['wc', '-c']), { stdin: bytes })).stdout.text.trim(), '600000');
      assert.equal((await run(list(['wc', '-c']))).stdout.text.trim(), '0');
      // Input that is not read does no harm.
      assert.equal((await run(list(['true']), { stdin: bytes })).code, 0);
    });

    test('are connected as they are written: pipes, and, or, then [S0-36] (deep)', async (t) => {
      const { run } = open(t, options);
      const out = async (commands: CommandList) => (await run(commands)).stdout.text;
      const echo = (word: string): Command => ['echo', word];
      assert.equal(await out(list({ pipe: [['printf', 'b\\na\\nc\\n'], ['sort'], ['head', '-n', '2']] })), 'a\nb\n');
      assert.equal(await out(list(['true'], '&&', echo('a'), '||', echo('b'), ';', echo('c'))), 'a\nc\n');
      assert.equal(await out(list(['false'], '&&', echo('a'), '||', echo('b'))), 'b\n');
      const { code } = await run(list({ pipe: [['false'], ['true']] }, '&&', sh('exit 4'), ';', sh('exit 5')));
      assert.equal(code, 5);
      assert.equal((await run(list({ pipe: [['true'], ['false']] }))).code, 1);
    });

    test('end their writer when the reader has enough, and show the errors of all [S0-36]', async (t) => {
      const { run } = open(t, options);
      const { stdout, stderr, code } = await run(
        list({ pipe: [sh('echo one >&2; exec yes'), sh('echo two >&2; head -n 1')] }),
      );
      assert.equal(stdout.text, 'y\n');
      assert.equal(code, 0);
      assert.deepEqual(
        stderr.text
          .split('\n')
          .filter((line) => /^(one|two)$/.test(line))
          .sort(),
        ['one', 'two'],
      );
    });

    test('4.17 tell the signal that ended them, and a shell of operators sees a failure', async (t) => {
      const { run } = open(t, options);
      assert.deepEqual((({ code, signal }) => ({ code, signal }))(await run(list(sh('kill -SEGV $$')))), {
        code: null,
        signal: 'SIGSEGV',
      });
      assert.equal((await run(list(sh('kill -KILL $$'), '||', ['echo', 'failed']))).stdout.text, 'failed\n');
      assert.equal((await run(list(sh('exit 129')))).code, 129);
    });

    test('4.18 keep the head and the tail of more output than allowed, with exact counts [S0-38]', async (t) => {
      const { run } = open(t, options);
      const outcome = await run(list(['seq', '1', '200000'], ';', sh('seq 1 200000 >&2')), { maxOutputBytes: 1000 });
      for (const stream of [outcome.stdout, outcome.stderr]) {
        assert.equal(stream.totalBytes, 1_288_895);
        assert.equal(stream.truncated, true);
        assert.ok(stream.text.startsWith('1\n2\n3\n'));
        assert.ok(stream.text.endsWith('199999\n200000\n'));
        assert.match(stream.text, /\n\[… 1287895 bytes, \d+ lines left out …\]\n/);
      }
    });

    test('are killed with all they started, and what they printed is returned [S0-37]', async (t) => {
      const { run } = open(t, options);
      const stop = new AbortController();
      const outcome = await run(list(sh('echo before; (sleep 1000 & sleep 1000) & wait'), '||', ['echo', 'after']), {
        signal: stop.signal,
        onOutput: () => stop.abort(),
      });
      assert.equal(outcome.signal, 'SIGKILL');
      assert.equal(outcome.code, null);
      assert.equal(outcome.stdout.text, 'before\n');
    });

    test('answer when they end, though something they left behind still holds their output [S0-37] (deep)', async (t) => {
      const { run } = open(t, options);
      const outcome = await run(list(sh('setsid sh -c "echo left behind; exec sleep 3" & sleep 0.2; exit 6')));
      assert.equal(outcome.code, 6);
      assert.equal(outcome.stdout.text, 'left behind\n');
    });

    test('are not started at all when one of their programs does not exist [S0-36]', async (t) => {
      const { runner, workspace } = open(t, options);
      writeFileSync(join(workspace, 'tool'), '#!/bin/sh\necho mine\n', { mode: 0o755 });
      for (const program of ['no-such-program', '../tool', 'tool', join(workspace, 'tool'), '']) {
        await assert.rejects(runner.start(request(list(['touch', 'made'], '&&', [program]))), {
          code: 'E_SHELL',
          message: `Program not found: ${program}`,
        });
      }
      await assert.rejects(runner.start(request(list(['true']), { cwd: 'nowhere' })), { code: 'E_SHELL' });
      assert.equal(existsSync(join(workspace, 'made')), false);
    });

    test('take input while they run, and learn that their output is no longer read', async (t) => {
      const { runner } = open(t, options);
      const lines: string[] = [];
      const command = await runner.start(
        request(list(['cat']), { stdin: 'open', onOutput: (_stream, chunk) => lines.push(String(chunk)) }),
      );
      assert.equal(command.pids.length, 1);
      await command.write(Buffer.from('one\n'));
      while (lines.length === 0) await delay(2);
      await command.write(Buffer.from('two\n'));
      command.endInput();
      const outcome = await command.done;
      assert.equal(outcome.stdout.text, 'one\ntwo\n');
      assert.deepEqual(command.pids, []);
      await assert.rejects(command.write(Buffer.from('three')), { code: 'E_SHELL' });
    });

    test('can be stopped at any moment after their start (deep)', async (t) => {
      const { runner } = open(t, options);
      for (let after = 0; after <= 12; after++) {
        const marker = `--marker-${process.pid}-${after}-${name.replaceAll(' ', '-')}`;
        const command = await runner.start(request(list(sh('sleep 1000; :', marker))));
        await delay(after);
        await command.stop();
        assert.deepEqual(processesWith(marker), []);
        assert.equal((await command.done).signal, 'SIGKILL');
      }
    });

    test('end with their runner', async (t) => {
      const { runner } = open(t, options);
      const command = await runner.start(request(list(['sleep', '1000'])));
      await runner.close();
      assert.equal((await command.done).signal, 'SIGKILL');
    });

    test('leave no descriptor behind, even 32 at once (deep)', async (t) => {
      const { run } = open(t, options);
      await run(list(['true']));
      const before = readdirSync('/proc/self/fd').length;
      const outcomes = await Promise.all(
        Array.from({ length: 32 }, (_, index) =>
          run(list({ pipe: [['echo', String(index)], ['cat']] }), { stdin: Buffer.from('x') }),
        ),
      );
      assert.deepEqual(
        outcomes.map(({ stdout }) => stdout.text),
        outcomes.map((_, index) => `${index}\n`),
      );
      await new Promise(setImmediate);
      // Fewer where the watcher of an earlier test has gone meanwhile.
      assert.ok(readdirSync('/proc/self/fd').length <= before);
    });

    test('fail when a listener of their output fails, instead of taking the host down (deep)', async (t) => {
      const { run } = open(t, options);
      const broken = () => {
        throw new RangeError('listener');
      };
      await assert.rejects(run(list(sh('echo x; exec sleep 1000')), { onOutput: broken }), RangeError);
    });
  });
}

function processesWith(marker: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(marker);
    } catch {
      return false;
    }
  });
}

describe('what a command may not change', () => {
  test('git data, registry and lock are read-only, the rest of the workspace is not [S0-36] (deep)', async (t) => {
    const { run, workspace } = open(t);
    mkdirSync(join(workspace, '.git', 'hooks'), { recursive: true });
    writeFileSync(join(workspace, 'tool-runtime.yaml'), 'mine');
    writeFileSync(join(workspace, 'tool-runtime.lock'), 'mine');
    const tries = [
      'echo x > .git/config',
      'mkdir .git/hooks/x',
      'mv .git moved',
      'rm -rf .git',
      'echo x > tool-runtime.yaml',
      'rm -f tool-runtime.yaml',
      'mv tool-runtime.yaml x',
      'echo x > tool-runtime.lock',
      'rm -f tool-runtime.lock',
    ];
    for (const attempt of tries) assert.notEqual((await run(list(sh(attempt)))).code, 0, attempt);
    assert.equal((await run(list(sh('echo x > file && mkdir folder && mv file folder && ls -d .git')))).code, 0);
    assert.deepEqual(readdirSync(workspace).sort(), ['.git', 'folder', 'tool-runtime.lock', 'tool-runtime.yaml']);
    assert.equal(readFileSync(join(workspace, 'tool-runtime.yaml'), 'utf8'), 'mine');
    assert.deepEqual(readdirSync(join(workspace, '.git')), ['hooks']);
  });

  test('what appears under a protected name is moved aside and reported [S0-36] (deep)', async (t) => {
    const { run, workspace } = open(t);
    const outcome = await run(
      list(sh('mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; echo x > tool-runtime.yaml')),
    );
    assert.equal(outcome.quarantined?.length, 2);
    assert.deepEqual(readdirSync(workspace).sort(), [...(outcome.quarantined ?? [])].sort());
    const harmless = await run(list(sh('mkdir -p sub/.git; echo x > .gitignore')));
    assert.equal(harmless.quarantined, undefined);
  });

  test('a link under a protected name cannot be exchanged [S0-36] (deep)', async (t) => {
    const { run, workspace } = open(t);
    symlinkSync('/nowhere', join(workspace, '.git'));
    assert.equal((await run(list(['true']))).quarantined, undefined);
    assert.equal((await run(list(sh('rm .git; mkdir .git')))).quarantined?.length, 1);
    assert.equal(existsSync(join(workspace, '.git')), false);
  });
});

describe('a sandbox that cannot be had', () => {
  test('bubblewrap missing: nothing runs, and the refusal says what to install [S0-36]', async (t) => {
    const root = mkdtempSync(join(tmpdir(), 'runner-'));
    t.after(() => rmSync(root, { recursive: true, force: true }));
    const isolation = createBubblewrap({ spawner: createSpawner(), folder: root, programPlaces: ['/no/such/bwrap'] });
    const { runner, workspace } = open(t, { isolation });
    await assert.rejects(runner.start(request(list(['touch', 'made']))), {
      code: 'E_POLICY',
      details: {
        kind: 'isolation_failure',
        retry: 'host_configuration_needed',
        isolation: 'bubblewrap',
        next: 'install bubblewrap (apt-get install bubblewrap), or set isolation: none in the registry',
      },
    });
    assert.equal(existsSync(join(workspace, 'made')), false);
  });

  test('a bubblewrap that isolates nothing is found out by the self-test, and one that fails too [S0-36] (deep)', async (t) => {
    const root = mkdtempSync(join(tmpdir(), 'runner-'));
    t.after(() => rmSync(root, { recursive: true, force: true }));
    /** Passes its words on to the real one, one of them replaced. */
    const altered = (word: string, by: string) =>
      `for word; do shift; case "$word" in ${word}) set -- "$@" ${by} ;; *) set -- "$@" "$word" ;; esac; done; exec /usr/bin/bwrap "$@"`;
    const weak: [script: string, problem: RegExp][] = [
      ['while [ "$1" != -- ]; do shift; done; shift; exec "$@"', /outside the workspace/],
      [altered('--unshare-all', '--unshare-all --share-net'), /network interface|shared: net/],
      [
        altered('--unshare-all', '--unshare-user --unshare-uts --unshare-net'),
        /sees \d+ processes|network interface|shared/,
      ],
      [altered('--bind', `--bind ${root} ${root} --bind`), /outside the workspace/],
      [altered('--bind', `--ro-bind ${root} ${root} --bind`), /can read outside/],
      ['echo "bwrap: setting up uid map: Permission denied" >&2; exit 1', /Permission denied/],
    ];
    // The kernel refuses these to others than root all by itself.
    if (process.getuid?.() === 0) {
      weak.push([altered('--ro-bind', '--bind'), /Path changed while the sandbox was set up/]);
      weak.push([altered('--remount-ro', '--ro-bind-try /nowhere'), /settings of the kernel/]);
      weak.push([altered('--cap-drop', '--cap-add'), /capabilities|settings/]);
    }
    for (const [script, expected] of weak) {
      const bwrap = join(root, 'bwrap');
      writeFileSync(bwrap, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      const isolation = createBubblewrap({ spawner: createSpawner(), folder: root, programPlaces: [bwrap] });
      const problem = await isolation.check();
      assert.match(problem?.problem ?? 'found nothing', /^Sandbox (?:is not tight|cannot be set up): /, script);
      assert.match(problem?.problem ?? '', expected);
      assert.match(problem?.next ?? '', /isolation: none/);
      assert.throws(
        () =>
          isolation.enter({
            workspace: { path: root, open: () => -1 },
            writable: true,
            proxySocket: null,
            protectedPaths: [],
          }),
        {
          code: 'E_POLICY',
        },
      );
      rmSync(bwrap);
    }
  });

  test('a variable that makes programs load something takes effect inside the sandbox only [S0-36] (deep)', async (t) => {
    const { run } = open(t);
    // It makes the first program started list its libraries and end: that must not be bubblewrap.
    const outcome = await run(list(['true']), { env: { LD_TRACE_LOADED_OBJECTS: '1' } });
    assert.match(outcome.stdout.text, /libc\.so/);
    assert.doesNotMatch(outcome.stdout.text, /libcap/);
  });

  test('a program that is not shown is refused by name, and runs when its folder is shown [S0-36] (deep)', async (t) => {
    const tools = realpathSync(mkdtempSync(join(tmpdir(), 'tools-')));
    t.after(() => rmSync(tools, { recursive: true, force: true }));
    writeFileSync(join(tools, 'my-tool'), '#!/bin/sh\necho ran; echo x > "$0"\n', { mode: 0o755 });
    mkdirSync(join(tools, 'bin'));
    symlinkSync('../my-tool', join(tools, 'bin', 'my-tool'));
    const hidden = open(t, { programFolders: [join(tools, 'bin')] });
    await assert.rejects(hidden.runner.start(request(list(['my-tool']))), {
      code: 'E_SHELL',
      message: /not visible in the sandbox/,
    });
    const shown = open(t, { programFolders: [join(tools, 'bin')], readPaths: [tools] });
    const outcome = await shown.run(list(['my-tool']));
    assert.equal(outcome.stdout.text, 'ran\n');
    assert.match(outcome.stderr.text, /Read-only/);
  });
});

test('a caller that refuses the folder is told the real one, and nothing starts', async (t) => {
  const { workspace, run } = open(t, { isolation: 'none' });
  mkdirSync(join(workspace, 'real'));
  symlinkSync('real', join(workspace, 'link'));
  const told: string[] = [];
  const refuse = (folder: string): void => {
    told.push(folder);
    if (folder === 'real') throw new RangeError('not here');
  };
  const made = list(['touch', 'made']);
  await assert.rejects(run(made, { cwd: 'link', requireFolder: refuse }), RangeError);
  assert.equal(existsSync(join(workspace, 'real/made')), false);
  await run(made, { cwd: '.', requireFolder: refuse });
  assert.deepEqual([told, existsSync(join(workspace, 'made'))], [['real', '.'], true]);
});

describe('a command cancelled before its program runs', () => {
  test('is not kept waiting for the test of the sandbox, which goes on for the others', async (t) => {
    const tested = Promise.withResolvers<undefined>();
    const asked = Promise.withResolvers<void>();
    const isolation: Isolation = {
      ...createNoIsolation(),
      check() {
        asked.resolve();
        return tested.promise;
      },
    };
    const { runner, run, workspace } = open(t, { isolation });
    const cancel = new AbortController();
    const starting = runner.start(request(list(['touch', 'cancelled']), { signal: cancel.signal }));
    const other = run(list(['touch', 'other']), { signal: new AbortController().signal });
    await asked.promise;
    cancel.abort();
    await assert.rejects(starting, { message: 'Call was cancelled while the sandbox was prepared' });
    tested.resolve(undefined);
    assert.equal((await other).code, 0);
    assert.deepEqual(readdirSync(workspace), ['other']);
  });

  for (const backend of ['native', 'node'] as const) {
    test(`ends while its sandbox is being set up, and is never let in (${backend})`, async (t) => {
      const root = mkdtempSync(join(tmpdir(), 'runner-'));
      t.after(() => rmSync(root, { recursive: true, force: true }));
      const spawner = createSpawner({ backend });
      const bubblewrap = createBubblewrap({ spawner, folder: root });
      const [cancel, lookedAt] = [new AbortController(), Promise.withResolvers<void>()];
      let isReady = false;
      const isolation: Isolation = {
        ...bubblewrap,
        enter(wanted) {
          const entered = bubblewrap.enter(wanted);
          const verify = (init: number): boolean => {
            lookedAt.resolve();
            return isReady && entered.verify(init);
          };
          return { ...entered, verify };
        },
      };
      const { runner, run, workspace } = open(t, { isolation, spawner });
      const starting = runner.start(request(list(['touch', 'cancelled']), { signal: cancel.signal }));
      await lookedAt.promise;
      cancel.abort();
      assert.equal((await (await starting).done).signal, 'SIGKILL');
      isReady = true;
      assert.equal((await run(list(['touch', 'other']))).code, 0);
      assert.deepEqual(readdirSync(workspace), ['other']);
    });
  }
});

describe('a script', () => {
  const script = (text: string, ...words: readonly string[]): CommandList => ({
    pipelines: [],
    script: { text, words, seen: [], unseen: [] },
  });

  test('runs in bash inside the sandbox, with its words as they are, and takes nothing from the environment', async (t) => {
    const { run, workspace } = open(t);
    writeFileSync(join(workspace, 'rc'), 'echo from rc\n');
    const env = { BASH_ENV: join(workspace, 'rc'), SHELLOPTS: 'xtrace', GIVEN: 'yes' };
    const outcome = await run(script('echo "$GIVEN $1" > out; cat o*; exit 5', 'a  $b'), { env });
    assert.deepEqual([outcome.stdout.text, outcome.stderr.text, outcome.code], ['yes a  $b\n', '', 5]);
  });

  test('does not start without a sandbox, where a list of commands does', async (t) => {
    const { run, workspace } = open(t, { isolation: 'none' });
    await assert.rejects(run(script('touch ran')), /Sandboxed command mode needs a sandbox/);
    assert.deepEqual(readdirSync(workspace), []);
    assert.equal((await run(list(['true']))).code, 0);
  });
});
