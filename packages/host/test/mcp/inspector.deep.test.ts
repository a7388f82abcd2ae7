import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { COMPILE_CACHE } from './compile-cache.ts';
import { openStage, type Stage } from './stage.ts';

const INSPECTOR = fileURLToPath(import.meta.resolve('@modelcontextprotocol/inspector/clients/launcher/build/index.js'));
/** Its exit code for a tool that answered with an error. */
const TOOL_ERROR = 5;

describe('MCP Inspector on the command line', { concurrency: 2 }, () => {
  for (const kind of ['stdio', 'http'] as const) {
    for (const era of ['legacy', 'modern'] as const) {
      test(`${kind}, ${era}: lists without an error in strict mode, calls, shows a refusal`, async () => {
        await using stage = await openStage(kind);
        const inspect = (...how: string[]) => runInspector(stage, ['--protocol-era', era, ...how]);
        const listed = await inspect('--method', 'tools/list', '--strict');
        assert.equal(listed.code, 0, listed.printed);
        const { tools } = listed.result as { tools: { name: string }[] };
        assert.ok(tools.some(({ name }) => name === 'file_read'));

        const read = await inspect(
          '--method',
          'tools/call',
          '--tool-name',
          'file_read',
          '--tool-arg',
          'path=hello.txt',
        );
        assert.equal(read.code, 0, read.printed);
        assert.match(JSON.stringify(read.result['structuredContent']), /hello/);

        const refused = await inspect('--method', 'tools/call', '--tool-name', 'file_read', '--tool-arg', 'path=../x');
        assert.equal(refused.code, TOOL_ERROR, refused.printed);
        assert.match(JSON.stringify(refused.result['content']), /E_POLICY.*sec\.paths\.sandbox/);
      });
    }
  }

  for (const kind of ['stdio', 'http'] as const) {
    test(`${kind}: a load of calls at once goes through without an error`, async () => {
      await using stage = await openStage(kind);
      const call = ['--method', 'tools/call', '--tool-name', 'file_read', '--tool-arg', 'path=hello.txt'];
      const { code, result, printed } = await runInspector(stage, [
        ...call,
        ...['--load', '--load-concurrency', '16', '--load-requests', '200'],
      ]);
      assert.equal(code, 0, printed);
      assert.deepEqual([result['ok'], result['toolErrors'], result['errors']], [200, 0, 0]);
      const calls = (await stage.journal()).filter((record) => record.kind === 'result');
      assert.equal(calls.length, 200);
    });
  }
});

interface Inspection {
  readonly code: number | null;
  readonly result: Readonly<Record<string, unknown>>;
  readonly printed: string;
}

async function runInspector(stage: Stage, how: readonly string[]): Promise<Inspection> {
  // It keeps files in the home folder of its user.
  const home = await mkdtemp(join(tmpdir(), 'inspector-'));
  try {
    const { NODE_TEST_CONTEXT, ...env } = process.env;
    const child = spawn(process.execPath, [INSPECTOR, '--cli', '--format', 'json', '-q', ...how, ...targetOf(stage)], {
      env: { ...env, ...COMPILE_CACHE, HOME: home },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    const { result = {} } = (stdout === '' ? {} : JSON.parse(stdout)) as { result?: Record<string, unknown> };
    return { code: code as number | null, result, printed: `${stdout.slice(0, 2000)}\n${stderr.slice(-2000)}` };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

function targetOf(stage: Stage): readonly string[] {
  if (stage.kind === 'stdio') {
    const { command, args, env } = stage.stdio();
    return [...Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]), '--', command, ...args];
  }
  const { url, headers } = stage.http();
  return ['--server-url', url.href, '--transport', 'http', '--header', `Authorization: ${headers['authorization']}`];
}
