import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ToolResponse } from '@tool-runtime/protocol';
import { openScratchRuntime, type ScratchRuntime } from '../../testing/scratch-runtime.ts';

const REGISTRY = {
  file: 'ops.yaml',
  text: [
    'version: 1',
    'shell_allow:',
    ...['echo', 'cat', 'sleep', 'ls', 'pwd', 'printenv', 'head', 'tr', 'false', 'true', 'seq', 'kill'].map(
      (name) => `  - '^${name}( |$)'`,
    ),
    "  - '^python3 die\\.py$'",
    "  - '^sh end\\.sh$'",
    "  - '^no-such-program$'",
    '',
  ].join('\n'),
};

async function withShell(use: (scratch: ScratchRuntime) => Promise<void>): Promise<void> {
  const scratch = await openScratchRuntime({ registry: REGISTRY, secrets: ['hunter2hunter2'] });
  try {
    await use(scratch);
  } finally {
    await scratch.dispose();
  }
}

interface ShellData {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdout_bytes: number;
  readonly truncated: boolean;
  readonly stdout_artifact?: string;
  readonly job?: string;
}

const dataOf = (response: ToolResponse): ShellData => {
  assert.deepEqual(response.errors, []);
  return response.data as unknown as ShellData;
};

describe('shell_exec [S0-36]', () => {
  test('4.17 runs what the allowlist allows and answers with code and streams; a non-zero code is no failure [S0-36]', () =>
    withShell(async ({ session }) => {
      const { code, stdout, stderr } = dataOf(
        await session.call('shell_exec', { cmd: "echo 'hello  there' | tr a-z A-Z" }),
      );
      assert.deepEqual([code, stdout, stderr], [0, 'HELLO  THERE\n', '']);
      assert.equal(dataOf(await session.call('shell_exec', { cmd: 'false' })).code, 1);
      assert.equal(dataOf(await session.call('shell_exec', { argv: ['echo', '$HOME; `id`'] })).stdout, '$HOME; `id`\n');
    }));

  test('operators run as a shell would run them, without a shell [S0-12]', () =>
    withShell(async ({ session }) => {
      const run = async (cmd: string) => dataOf(await session.call('shell_exec', { cmd }));
      assert.equal((await run('false && echo a || echo b; echo c')).stdout, 'b\nc\n');
      assert.equal((await run('true && echo a && false')).code, 1);
      assert.equal((await run('seq 100000 | head -n 2')).stdout, '1\n2\n');
    }));

  test('what is not allowed does not start, and the refusal names rule, position and registry line [S0-12 S0-61]', () =>
    withShell(async (scratch) => {
      const refused = await scratch.session.call('shell_exec', { cmd: 'echo ok; touch escaped' });
      assert.equal(refused.errors[0]?.code, 'E_POLICY');
      assert.equal(refused.errors[0]?.details?.['rule'], 'sec.shell.allowlist');
      assert.equal(refused.errors[0]?.details?.['position'], 10);
      assert.match(String(refused.errors[0]?.details?.['registry']), /^ops\.yaml:2$/);
      assert.equal(existsSync(join(scratch.workspace, 'escaped')), false);
      assert.equal((await scratch.session.call('shell_exec', { cmd: 'echo ok' })).ok, true);
    }));

  test('cwd is sandboxed, stdin and env reach the command, dangerous names do not [S0-36]', () =>
    withShell(async (scratch) => {
      mkdirSync(join(scratch.workspace, 'sub'));
      const run = (args: object) => scratch.session.call('shell_exec', args);
      assert.match(dataOf(await run({ cmd: 'pwd', cwd: 'sub' })).stdout, /\/sub\n$/);
      assert.equal((await run({ cmd: 'pwd', cwd: '..' })).errors[0]?.code, 'E_POLICY');
      symlinkSync('/etc', join(scratch.workspace, 'out'));
      symlinkSync('sub', join(scratch.workspace, 'in'));
      const outside = await run({ cmd: 'pwd', cwd: 'out' });
      assert.deepEqual(
        [outside.errors[0]?.code, outside.errors[0]?.details?.['rule']],
        ['E_POLICY', 'sec.paths.sandbox'],
      );
      assert.match(dataOf(await run({ cmd: 'pwd', cwd: 'in' })).stdout, /\/sub\n$/);
      assert.equal(dataOf(await run({ cmd: 'cat', stdin: 'typed' })).stdout, 'typed');
      assert.equal(dataOf(await run({ cmd: 'cat' })).stdout, '');
      assert.equal(dataOf(await run({ cmd: 'printenv GREETING', env: { GREETING: 'hi' } })).stdout, 'hi\n');
      assert.equal((await run({ cmd: 'printenv', env: { LD_PRELOAD: 'x' } })).errors[0]?.code, 'E_POLICY');
    }));

  test('secrets are redacted in the answer, and the environment of the host is not inherited [S0-13]', () =>
    withShell(async ({ session, runtime }) => {
      process.env['TOOL_RUNTIME_TEST_CANARY'] = 'canary-value';
      const everything = dataOf(await session.call('shell_exec', { cmd: 'printenv' })).stdout;
      assert.doesNotMatch(everything, /canary-value/);
      const env = { MY_TOKEN: 'tok-abcdef-123456' };
      const printed = await session.call('shell_exec', { cmd: 'printenv MY_TOKEN; echo hunter2hunter2', env });
      assert.doesNotMatch(JSON.stringify([printed, ...runtime.records()]), /tok-abcdef|hunter2hunter2/);
      delete process.env['TOOL_RUNTIME_TEST_CANARY'];
    }));

  test('a command over its time is killed with all its children and what it printed comes back [S0-37] (deep)', () =>
    withShell(async ({ session }) => {
      // The first command also tests the sandbox, which counts against its time.
      await session.call('shell_exec', { cmd: 'true' });
      const response = await session.call('shell_exec', { cmd: 'echo begun; sleep 600', timeout_ms: 4_000 });
      assert.equal(response.errors[0]?.code, 'E_TIMEOUT');
      assert.equal(response.errors[0]?.details?.['stdout'], 'begun\n');
    }));

  test('4.17 a program that does not exist is E_SHELL, and so is death by a signal', () =>
    withShell(async ({ session, workspace }) => {
      writeFileSync(join(workspace, 'die.py'), 'import os\nos.kill(os.getpid(), 11)\n');
      const missing = await session.call('shell_exec', { cmd: 'no-such-program' });
      assert.equal(missing.errors[0]?.code, 'E_SHELL');
      const killed = await session.call('shell_exec', { cmd: 'python3 die.py' });
      assert.equal(killed.errors[0]?.code, 'E_SHELL', JSON.stringify(killed));
      assert.equal(killed.errors[0]?.details?.['signal'], 'SIGSEGV');
    }));

  test('output over 5 MiB is cut in the middle with exact counts, and the artifact has all of it [S0-38 S2-22] (deep)', () =>
    withShell(async ({ session }) => {
      const data = dataOf(await session.call('shell_exec', { cmd: 'seq 1000000' }));
      assert.equal(data.truncated, true);
      assert.equal(data.stdout_bytes, 6_888_896);
      assert.ok(data.stdout.startsWith('1\n2\n') && data.stdout.endsWith('999999\n1000000\n'));
      assert.ok(data.stdout.length < 5.5 * 1024 * 1024);
      const artifact = data.stdout_artifact ?? 'none';
      const page = await session.call('artifact_read', { artifact, offset: -8, max_bytes: 100 });
      assert.equal((page.data as { content: string }).content, '1000000\n');
      const found = await session.call('artifact_read', { artifact, search: '^54321$' });
      assert.deepEqual((found.data as { matches: unknown }).matches, [{ line: 54321, text: '54321' }]);
      const tail = await session.call('artifact_read', { artifact, tail_lines: 2 });
      assert.equal((tail.data as { content: string }).content, '999999\n1000000\n');
    }));

  test('an exit code, one that a shell reports for a signal, a signal and a timeout are told apart (deep)', () =>
    withShell(async ({ session, workspace }) => {
      writeFileSync(join(workspace, 'die.py'), 'import os\nos.kill(os.getpid(), 15)\n');
      writeFileSync(join(workspace, 'end.sh'), "sh -c 'kill -9 $$'\nexit 130\n");
      // 128 + n of a signal that kills or crashes counts as that signal: the sandbox reports both alike.
      const facts = ({ data, errors }: ToolResponse) => {
        const said = (data ?? errors[0]?.details ?? {}) as Record<string, unknown>;
        return [errors[0]?.code, said['code'], said['signal'], said['timed_out']];
      };
      const run = async (cmd: string, more = {}) => facts(await session.call('shell_exec', { cmd, ...more }));
      assert.deepEqual(await run('false'), [undefined, 1, null, false]);
      assert.deepEqual(await run('sh end.sh'), [undefined, 130, null, false]);
      assert.deepEqual(await run('python3 die.py'), ['E_SHELL', null, 'SIGTERM', false]);
      assert.deepEqual(await run('sleep 600', { timeout_ms: 3_000 }), ['E_TIMEOUT', null, 'SIGKILL', true]);
    }));

  test('from 16 KiB on the whole output is kept as an artifact too, also of a command over its time [S2-22] (deep)', () =>
    withShell(async ({ session }) => {
      const whole = async (artifact: unknown) =>
        (await session.call('artifact_read' as string, { artifact, max_bytes: 1_000_000 })).data as { content: string };
      const short = dataOf(await session.call('shell_exec', { cmd: 'seq 3000' }));
      assert.deepEqual([short.stdout_bytes, short.stdout_artifact], [13_893, undefined]);
      const long = dataOf(await session.call('shell_exec', { cmd: 'seq 5000' }));
      assert.deepEqual([long.truncated, (await whole(long.stdout_artifact)).content], [false, long.stdout]);
      const late = await session.call('shell_exec', { cmd: 'seq 5000; sleep 600', timeout_ms: 6_000 });
      const { details = {} } = late.errors[0] ?? {};
      assert.equal(late.errors[0]?.code, 'E_TIMEOUT');
      assert.equal((await whole(details['stdout_artifact'])).content, details['stdout']);
      assert.equal(details['stdout'], long.stdout);
    }));

  test('output passes as it was printed: escape sequences, a byte order mark, and U+FFFD for what is no UTF-8', () =>
    withShell(async ({ session, workspace }) => {
      const bytes = Buffer.concat([Buffer.from('\ufeff\u001b[31mred\u001b[0m\r\n'), Buffer.from([0xff, 0xc3, 0x28])]);
      writeFileSync(join(workspace, 'raw.bin'), bytes);
      const { stdout } = dataOf(await session.call('shell_exec', { cmd: 'cat raw.bin' }));
      assert.equal(stdout, '\ufeff\u001b[31mred\u001b[0m\r\n\ufffd\ufffd(');
      assert.equal(stdout, bytes.toString('utf8'));
    }));

  test('neither or both of cmd and argv is E_VALIDATION_FAIL', () =>
    withShell(async ({ session }) => {
      for (const args of [{}, { cmd: 'ls', argv: ['ls'] }]) {
        assert.equal((await session.call('shell_exec', args)).errors[0]?.code, 'E_VALIDATION_FAIL');
      }
    }));

  test('the workspace is writable for commands, its git folder and registry are not', () =>
    withShell(async (scratch) => {
      const registry = { ...REGISTRY, text: REGISTRY.text.replace("'^kill( |$)'", "'^tee( |$)'") };
      const { session, workspace, dispose } = await openScratchRuntime({ registry });
      mkdirSync(join(workspace, '.git'));
      writeFileSync(join(workspace, '.git/config'), 'old');
      assert.equal(dataOf(await session.call('shell_exec', { cmd: 'echo x | tee made.txt' })).code, 0);
      assert.equal(readFileSync(join(workspace, 'made.txt'), 'utf8'), 'x\n');
      assert.notEqual(dataOf(await session.call('shell_exec', { cmd: 'echo x | tee .git/config' })).code, 0);
      assert.equal(readFileSync(join(workspace, '.git/config'), 'utf8'), 'old');
      await dispose();
      assert.ok(scratch);
    }));

  test('without shell_allow the tool is hidden and refused [S0-60]', async () => {
    const { session, dispose } = await openScratchRuntime();
    assert.ok(session.hidden().some((tool) => tool.name === 'shell_exec'));
    assert.equal((await session.call('shell_exec', { cmd: 'ls' })).errors[0]?.code, 'E_POLICY');
    await dispose();
  });
});
