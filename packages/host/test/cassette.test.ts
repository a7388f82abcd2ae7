import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { connectToHost } from '@tool-runtime/protocol/client';
import { type CassetteMode, createRuntime, type RuntimeOptions } from '@tool-runtime/sdk';
import { createGateway } from '../src/mcp/gateway/create-gateway.ts';
import { createStage, modern, mounted } from './mcp/gateway-stage.ts';
import { openHost, TOKENS } from './open-host.ts';
import { createScratch, FROM_SOURCE, runCli, startCli } from './run-cli.ts';
import { connectStdio } from './stdio-client.ts';

describe('cassettes at every entrance', () => {
  test('stdio records into a file that does not exist, and replays one that does (deep)', async () => {
    using tapes = createScratch();
    const file = join(tapes.root, 'tape.jsonl');
    const serve = async () => {
      using scratch = createScratch();
      const words = ['stdio', '--cassette', file, ...scratch.options];
      using client = await connectStdio(startCli(words));
      client.send(client.request('r1', 'file_write', { path: 'a.txt', content: 'text' }));
      await client.until((message) => message.type === 'ToolResponse' && message.request_id === 'r1');
      client.send(client.request('r2', 'file_read', { path: 'a.txt' }));
      assert.equal(await client.end(), 0);
      const answers = client.messages.flatMap((message) =>
        message.type === 'ToolResponse' ? [[message.request_id, message.ok, message.data]] : [],
      );
      return { answers, files: readdirSync(scratch.workspace) };
    };
    const recorded = await serve();
    assert.deepEqual(recorded.files, ['a.txt']);
    const replayed = await serve();
    assert.deepEqual(replayed, { answers: recorded.answers, files: [] });
  });

  test('a host records and replays the sessions of its clients', async () => {
    using tapes = createScratch();
    const file = join(tapes.root, 'tape.jsonl');
    const serve = async (mode: CassetteMode) => {
      await using host = await openHost({ runtime: { cassette: { mode, file } } });
      const open = () =>
        connectToHost({ url: host.url, token: TOKENS.caller, session: { client: { name: 'test', version: '1' } } });
      const [one, other] = [await open(), await open()];
      const answers = [
        await one.call('file_write', { path: 'a.txt', content: 'one' }),
        await other.call('file_read', { path: 'hello.txt' }),
        await one.call('file_read', { path: 'a.txt' }),
        await other.call('file_read', { path: '../x' }),
      ];
      await Promise.all([one.close(), other.close()]);
      return { answers: answers.map(({ ok, data, errors }) => [ok, data, errors]), files: readdirSync(host.workspace) };
    };
    const recorded = await serve('record');
    assert.deepEqual(recorded.files.sort(), ['a.txt', 'hello.txt']);
    const replayed = await serve('replay');
    assert.deepEqual(replayed, { answers: recorded.answers, files: ['hello.txt'] });
  });

  test('an MCP client gets recorded answers, also those of mounted servers that are not there (deep)', async (context) => {
    const stage = createStage();
    context.after(() => stage.dispose());
    using tapes = createScratch();
    const file = join(tapes.root, 'tape.jsonl');
    const registry = join(tapes.root, 'registry.yaml');
    const document = { version: 1, ...mounted({ s: modern() }) };
    writeFileSync(registry, JSON.stringify(document));
    await stage.approve(mounted({ s: modern() }), 's');
    const serve = async (mode: CassetteMode, places: readonly string[]) => {
      const client = new Client({ name: 'test', version: '1' });
      const words = ['mcp', '--registry', registry, '--profile', 'full', '--cassette', file, '--cassette-mode', mode];
      await client.connect(
        new StdioClientTransport({ command: process.execPath, args: [...FROM_SOURCE, ...words, ...places] }),
      );
      try {
        const { tools } = await client.listTools();
        const added = await client.callTool({ name: 's_add', arguments: { a: 2, b: 3 } });
        const read = await client.callTool({ name: 'file_read', arguments: { path: 'none.txt' } });
        return {
          listed: tools.find(({ name }) => name === 's_add'),
          added: [added.content, added.structuredContent],
          read: read.content,
        };
      } finally {
        await client.close();
      }
    };
    const recorded = await serve('record', ['--workspace', stage.workspace, '--state', stage.state]);
    assert.match(JSON.stringify(recorded.added), /"5"/);
    // Without pins, and with a server that cannot be started.
    writeFileSync(
      registry,
      JSON.stringify({ version: 1, ...mounted({ s: { command: ['/no/such/program'], tools: ['*'] } }) }),
    );
    using scratch = createScratch();
    assert.deepEqual(await serve('replay', scratch.options), recorded);
  });

  test('the gateway of a library is not opened in replay (deep)', async (context) => {
    const stage = createStage();
    context.after(() => stage.dispose());
    using tapes = createScratch();
    const cassette = { file: join(tapes.root, 'tape.jsonl') };
    const servers = mounted({ s: modern() });
    await stage.approve(servers, 's');
    const text = JSON.stringify({ version: 1, ...servers });
    const use = async (options: Pick<RuntimeOptions, 'workspace' | 'state'>, mode: CassetteMode) => {
      const runtime = await createRuntime({
        ...options,
        registry: { text, file: 'registry' },
        sources: [createGateway()],
        cassette: { ...cassette, mode },
      });
      const session = await runtime.openSession();
      const response = await session.call('s_add', { a: 1, b: 1 });
      const shown = session.present({ tool: 's_add', args: { a: 1, b: 1 } }, response).text;
      await runtime.close();
      return { ok: response.ok, data: response.data, shown };
    };
    const recorded = await use(stage, 'record');
    const first = readFileSync(cassette.file, 'utf8');
    assert.deepEqual(await use(stage, 'record'), recorded);
    assert.equal(readFileSync(cassette.file, 'utf8'), first);
    using scratch = createScratch();
    assert.deepEqual(await use(scratch, 'replay'), recorded);
  });

  test('serve refuses what a cassette cannot hold (deep)', async () => {
    using scratch = createScratch();
    const file = join(scratch.root, 'tape.jsonl');
    const tape = ['serve', '--cassette', file, '--cassette-mode', 'replay', ...scratch.options];
    const also = await runCli([...tape, '--also', scratch.root]);
    assert.deepEqual([also.code, /--cassette holds the calls of one workspace/.test(also.stderr)], [2, true]);
    const coordinator = await runCli([...tape, '--coordinator', 'http://127.0.0.1:9']);
    assert.deepEqual([coordinator.code, /Replay contacts nothing/.test(coordinator.stderr)], [2, true]);
    const missing = await runCli(tape);
    assert.equal(missing.code, 2);
    assert.match(missing.stderr, /no cassette to replay/);
  });
});
