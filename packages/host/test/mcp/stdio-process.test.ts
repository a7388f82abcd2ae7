import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, test } from 'node:test';
import { eventually, within } from '../wire/within.ts';
import { findProcesses } from './find-processes.ts';
import { openStage, type Stage } from './stage.ts';

const OPENING = {
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw client', version: '1' } },
};
const READ = { id: 3, method: 'tools/call', params: { name: 'file_read', arguments: { path: 'hello.txt' } } };

describe('tool-runtime mcp as a process', { concurrency: 2 }, () => {
  test('writes nothing but JSON-RPC, and no record before the first call (deep)', async () => {
    await using stage = await openStage('stdio');
    using server = startServer(stage);
    await server.ask(OPENING);
    await server.ask({ id: 2, method: 'tools/list' });
    assert.deepEqual(await stage.journal(), []);
    server.child.stdin.write('this is not a message\n');
    assert.ok('result' in (await server.ask(READ)));
    assert.ok(
      (await stage.journal()).some((record) => record.kind === 'requested' && /^raw client/.test(record.client)),
    );
    server.child.stdin.end();
    assert.deepEqual(await within(server.exit, () => 'the end'), [0, null]);
    for (const line of server.lines) assert.equal((JSON.parse(line) as { jsonrpc: string }).jsonrpc, '2.0');
  });

  test('started twice at once, both serve, and the idle one leaves no trace (deep)', async () => {
    await using stage = await openStage('stdio');
    using used = startServer(stage);
    using idle = startServer(stage);
    await Promise.all([used, idle].map((server) => server.ask(OPENING)));
    await idle.ask({ id: 2, method: 'tools/list' });
    assert.ok('result' in (await used.ask(READ)));
    for (const { child } of [used, idle]) child.stdin.end();
    assert.deepEqual(await Promise.all([used.exit, idle.exit]), [
      [0, null],
      [0, null],
    ]);
    const opened = (await stage.journal()).filter((record) => record.kind === 'session' && record.event === 'opened');
    assert.equal(opened.length, 1);
  });

  test('ends with its input, and takes a running command along (deep)', async () => {
    await using stage = await openStage('stdio');
    using server = startServer(stage);
    await server.ask(OPENING);
    server.send({ id: 9, method: 'tools/call', params: { name: 'shell_exec', arguments: { cmd: 'sh talk' } } });
    await eventually(() => findProcesses(stage.oddNumber).length > 0, 'the command runs');
    server.child.stdin.end();
    await within(server.exit, () => 'the end');
    await eventually(() => findProcesses(stage.oddNumber).length === 0, 'no orphan is left');
    const results = (await stage.journal()).filter((record) => record.kind === 'result');
    assert.deepEqual(
      results.map(({ status }) => status),
      ['cancelled'],
    );
  });

  test('ends when its client is killed, though another process holds its input open', async () => {
    await using stage = await openStage('stdio');
    const { command, args } = stage.stdio();
    // The shell plays the client; input and output are ours, so only its death can tell.
    const shell = spawn('sh', ['-c', 'exec 3<&0; "$@" <&3 & wait', 'sh', command, ...args]);
    using server = follow(shell);
    await server.ask(OPENING);
    const isServer = (pid: number): boolean => pid !== shell.pid;
    assert.equal(findProcesses(stage.workspace).filter(isServer).length, 1);
    shell.kill('SIGKILL');
    await eventually(() => findProcesses(stage.workspace).filter(isServer).length === 0, 'the server is gone');
  });

  for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
    test(`ends on ${signal}`, async () => {
      await using stage = await openStage('stdio');
      using server = startServer(stage);
      await server.ask(OPENING);
      server.child.kill(signal);
      await within(server.exit, () => 'the end');
    });
  }
});

type Message = Readonly<Record<string, unknown>> & { readonly id?: number };

interface RawServer {
  readonly child: ChildProcessWithoutNullStreams;
  readonly exit: Promise<unknown[]>;
  /** Everything it wrote. */
  readonly lines: readonly string[];
  send(message: Message): void;
  ask(message: Message): Promise<Message>;
  [Symbol.dispose](): void;
}

function startServer(stage: Stage): RawServer {
  const { command, args, env } = stage.stdio();
  return follow(spawn(command, args, { env: { ...process.env, ...env } }));
}

function follow(child: ChildProcessWithoutNullStreams): RawServer {
  const lines: string[] = [];
  const waiting = new Map<number, (message: Message) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    const message = JSON.parse(line) as Message;
    if (message.id !== undefined) waiting.get(message.id)?.(message);
  });
  const send = (message: Message): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  return {
    child,
    exit: once(child, 'exit'),
    lines,
    send,
    ask(message) {
      const { promise, resolve } = Promise.withResolvers<Message>();
      waiting.set(message.id ?? 0, resolve);
      send(message);
      return within(promise, () => `an answer to ${message['method']}`);
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
}
