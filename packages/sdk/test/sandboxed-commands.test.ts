import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { JsonObject, ToolResponse } from '@tool-runtime/protocol';
import type { RuntimeOptions } from '../src/runtime.ts';
import { openScratchRuntime, type ScratchRuntime } from '../src/testing/scratch-runtime.ts';

async function withScripts(
  registry: string,
  use: (scratch: ScratchRuntime) => Promise<void>,
  options: Partial<RuntimeOptions> = {},
): Promise<void> {
  const text = `version: 1\nshell:\n  mode: sandboxed\n${registry}`;
  const scratch = await openScratchRuntime({ registry: { file: 'ops.yaml', text }, ...options });
  try {
    await use(scratch);
  } finally {
    await scratch.dispose();
  }
}

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function ranAs(response: ToolResponse): Ran {
  assert.deepEqual(response.errors, []);
  return response.data as unknown as Ran;
}

async function run({ session }: ScratchRuntime, cmd: string, more: object = {}): Promise<Ran> {
  return ranAs(await session.call('shell_exec', { cmd, ...more }));
}

function detailsOf(response: ToolResponse): JsonObject {
  assert.equal(response.errors[0]?.code, 'E_POLICY', JSON.stringify(response));
  return response.errors[0]?.details ?? {};
}

describe('a line in sandboxed mode', () => {
  test('means what it means in bash', () =>
    withScripts('', async (scratch) => {
      mkdirSync(join(scratch.workspace, 'sub'));
      const rows: readonly (readonly [line: string, stdout: string, code?: number])[] = [
        ['echo out; echo err >&2; exit 3', 'out\n', 3],
        ['cd sub && pwd | grep -o "[^/]*$"', 'sub\n'],
        ['X=1 Y="a b" bash -c \'echo "$X $Y"\'', '1 a b\n'],
        ['for i in 1 2; do echo $i > f$i; done; cat f*; ls f{1,2} | wc -l', '1\n2\n2\n'],
        ["cat <<'EOF' > h.txt\nhi $x\nEOF\ncat h.txt", 'hi $x\n'],
        ['diff <(echo a) <(echo b) > /dev/null; echo $?', '1\n'],
        ['if [ -d sub ]; then echo yes; else echo no; fi', 'yes\n'],
        ['false | true; echo "$? $PIPESTATUS"', '0 1\n'],
        ['f() { echo "f $1"; }; f x; x=$(f y); echo "$x"', 'f x\nf y\n'],
        ['no-such-program 2>/dev/null', '', 127],
        ['echo "$BASH_ENV$ENV$HISTFILE"; shopt -q login_shell; echo $?; set -o | grep -c "history.*on"', '\n1\n0\n', 1],
        ['echo a &\nwait; echo b', 'a\nb\n'],
      ];
      for (const [line, stdout, code = 0] of rows) {
        const ran = await run(scratch, line);
        assert.deepEqual([ran.stdout, ran.code], [stdout, code], line);
      }
    }));

  test('takes argv, stdin, cwd and env as in strict mode', () =>
    withScripts('', async (scratch) => {
      mkdirSync(join(scratch.workspace, 'sub'));
      writeFileSync(join(scratch.workspace, 'sub', 'tool'), '#!/bin/sh\necho "tool $*"\n', { mode: 0o755 });
      const argv = async (words: readonly string[]) =>
        ranAs(await scratch.session.call('shell_exec', { argv: words, cwd: 'sub' })).stdout;
      assert.equal(await argv(['echo', '$HOME; `id`', 'a\nb']), '$HOME; `id` a\nb\n');
      assert.equal(await argv(['./tool', '*', '-x']), 'tool * -x\n');
      assert.equal((await run(scratch, 'cat; echo $V', { stdin: 'in ', env: { V: 'v' } })).stdout, 'in v\n');
    }));

  test('leaves nothing running when it ends', () =>
    withScripts('', async (scratch) => {
      const line =
        '(sleep 300; echo late > late) & setsid sleep 300 & nohup sleep 300 >/dev/null 2>&1 & disown; echo done';
      assert.deepEqual(await run(scratch, line).then(({ code, stdout }) => [code, stdout]), [0, 'done\n']);
      const ps = await run(scratch, 'cat /proc/[0-9]*/comm | grep -c sleep');
      assert.equal(ps.stdout, '0\n');
      assert.equal(existsSync(join(scratch.workspace, 'late')), false);
    }));

  test('becomes a job with yield_after_ms, together with what it has in the background', () =>
    withScripts('', async (scratch) => {
      const cmd = '(while [ ! -e go ]; do sleep 0.05; done; echo went > result) & wait';
      const started = await scratch.session.call('shell_exec', { cmd, yield_after_ms: 0 });
      const { job } = started.data as unknown as { job: string };
      assert.equal(typeof job, 'string');
      writeFileSync(join(scratch.workspace, 'go'), '');
      for (let state: unknown = 'running'; state === 'running'; ) {
        const polled = await scratch.session.call('job_poll', { job, wait_ms: 1000 });
        assert.deepEqual(polled.errors, []);
        state = (polled.data as JsonObject)['state'];
      }
      assert.equal(readFileSync(join(scratch.workspace, 'result'), 'utf8'), 'went\n');
    }));

  test('is refused where there is no sandbox, and strict mode still runs', async () => {
    await withScripts('isolation: none\n', async ({ session }) => {
      const details = detailsOf(await session.call('shell_exec', { cmd: 'true' }));
      assert.equal(details['reason'], 'no_sandbox');
      assert.match(String(details['next']), /isolation: bubblewrap/);
    });
    const text = "version: 1\nisolation: none\nshell_allow: ['^true$']\n";
    const strict = await openScratchRuntime({ registry: { file: 'ops.yaml', text } });
    try {
      assert.equal(ranAs(await strict.session.call('shell_exec', { cmd: 'true' })).code, 0);
      assert.equal(detailsOf(await strict.session.call('shell_exec', { cmd: 'true > x' }))['reason'], 'redirection');
    } finally {
      await strict.dispose();
    }
  });
});

describe('policy on a line in sandboxed mode', () => {
  test('deny holds before anything starts, and names the line of its pattern', () =>
    withScripts("shell_deny:\n  - '^curl'\n  - '^rm .*-r'\n", async (scratch) => {
      const response = await scratch.session.call('shell_exec', { cmd: "touch before; bash -c 'rm -rf x'" });
      const details = detailsOf(response);
      assert.deepEqual([details['reason'], details['registry']], ['denied', 'ops.yaml:6']);
      assert.equal(existsSync(join(scratch.workspace, 'before')), false);
      assert.equal((await run(scratch, 'touch before; rm before')).code, 0);
    }));

  test('deny is guidance: a name that is computed is not seen, and harms only the workspace', () =>
    withScripts("shell_deny: ['^rm']\n", async (scratch) => {
      writeFileSync(join(scratch.workspace, 'x'), '');
      detailsOf(await scratch.session.call('shell_exec', { cmd: 'rm x' }));
      assert.equal((await run(scratch, 'n=r; "$n"m x /usr/bin/env')).code, 1);
      assert.deepEqual([existsSync(join(scratch.workspace, 'x')), existsSync('/usr/bin/env')], [false, true]);
    }));

  test('ask takes the line to an approver, whose answer decides', async () => {
    const asked: string[] = [];
    let answer: 'approved' | 'denied' = 'denied';
    const approvals: RuntimeOptions['approvals'] = {
      ask: async ({ reason }) => {
        asked.push(reason);
        return { answer, by: 'ada' };
      },
    };
    const registry = "  unseen: ask\nshell_ask: ['^touch']\n";
    const use = async (scratch: ScratchRuntime): Promise<void> => {
      const touch = () => scratch.session.call('shell_exec', { cmd: 'cd . && touch x' });
      assert.equal(detailsOf(await touch())['gate'], 'approval');
      assert.equal(existsSync(join(scratch.workspace, 'x')), false);
      answer = 'approved';
      assert.equal(ranAs(await touch()).code, 0);
      assert.equal(existsSync(join(scratch.workspace, 'x')), true);
      assert.equal((await run(scratch, 'x=echo; $x hi')).stdout, 'hi\n');
      assert.equal((await run(scratch, 'ls')).code, 0);
    };
    await withScripts(registry, use, { approvals });
    const computed = 'shell.unseen: a program whose name is computed';
    assert.deepEqual(asked, ['shell_ask: ^touch', 'shell_ask: ^touch', computed]);
  });

  test('unseen parts are refused where the registry says so', () =>
    withScripts('  unseen: deny\n', async (scratch) => {
      const details = detailsOf(await scratch.session.call('shell_exec', { cmd: 'eval "$X"' }));
      assert.deepEqual([details['reason'], details['registry']], ['unseen', 'ops.yaml:4']);
      assert.equal((await run(scratch, 'eval true')).code, 0);
    }));

  test('the journal has the commands that were seen and the parts that were not, without secrets', () =>
    withScripts(
      '',
      async (scratch) => {
        await run(scratch, 'echo hunter2hunter2 | cat; eval "$X"; echo --password=abcdef123');
        const requested = [...scratch.runtime.records({ kind: 'requested' })].at(-1);
        const details = requested?.kind === 'requested' ? requested.details : undefined;
        assert.deepEqual(details?.['unseen'], [{ reason: 'eval', text: 'eval "$X"' }]);
        const commands = details?.['commands'];
        assert.ok(Array.isArray(commands) && commands.length === 4, JSON.stringify(details));
        assert.doesNotMatch(JSON.stringify([...scratch.runtime.records()]), /hunter2|abcdef123/);
      },
      { secrets: ['hunter2hunter2'] },
    ));
});
