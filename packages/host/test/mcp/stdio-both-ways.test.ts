/** Whatever a client sends over stdio, our codec and the library's own give the same answers. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { readFrame } from '../../src/mcp/server/read-frame.ts';
import { type Line, type Message, openPair, type Pair } from './stdio-pair.ts';

type Family = '2025' | '2026';
const FAMILIES: readonly Family[] = ['2025', '2026'];
const ABLE = { elicitation: { form: {} } };

function envelope(abilities: object = {}): object {
  return {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': abilities,
  };
}

function paramsFor(family: Family, params: object, abilities?: object): object {
  return family === '2025' ? params : { ...params, _meta: envelope(abilities) };
}

async function ask(line: Line, id: string | number, method: string, params?: object): Promise<Message> {
  line.send({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) });
  return line.next((message) => message['id'] === id && !('method' in message));
}

async function connect(line: Line, family: Family, abilities: object = {}): Promise<void> {
  const clientInfo = { name: 'test', version: '1' };
  if (family === '2026') {
    await ask(line, 'discover', 'server/discover', paramsFor(family, {}, abilities));
    await ask(line, 'settle', 'prompts/list', paramsFor(family, {}, abilities));
    return;
  }
  await ask(line, 'open', 'initialize', { protocolVersion: '2025-11-25', capabilities: abilities, clientInfo });
  line.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
}

async function askBoth(
  { own, sdk }: Pair,
  ...request: [string | number, string, object?]
): Promise<[Message, Message]> {
  return Promise.all([ask(own, ...request), ask(sdk, ...request)]);
}

describe('MCP over stdio', () => {
  test('an opening is answered alike', async () => {
    const infos = [
      { name: 'test', version: '1' },
      { name: 'test', version: '1', title: 'Test', websiteUrl: 'https://example.org' },
      { name: 'test', version: '1', icons: [{ src: 'data:,' }] },
      { name: 'test' },
    ];
    const abilities = [{}, ABLE, { elicitation: {} }, { roots: { listChanged: true } }, { tasks: {} }, { sampling: 1 }];
    for (const clientInfo of infos) {
      for (const [at, capabilities] of abilities.entries()) {
        await using pair = await openPair();
        const protocolVersion = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07', '1999'][at];
        const [own, sdk] = await askBoth(pair, 0, 'initialize', { protocolVersion, capabilities, clientInfo });
        assert.deepEqual(own, sdk);
      }
    }
  });

  test('a look around is answered alike, and so is what follows', async () => {
    for (const abilities of [{}, ABLE, { roots: {} }, { unheard: 1 }, 'none']) {
      await using pair = await openPair();
      const [own, sdk] = await askBoth(pair, 0, 'server/discover', paramsFor('2026', {}, abilities as object));
      assert.deepEqual(own, sdk);
      const [again, sdkAgain] = await askBoth(pair, 1, 'server/discover', paramsFor('2026', {}));
      assert.deepEqual(again, sdkAgain);
      await connect(pair.own, '2025');
      await connect(pair.sdk, '2025');
      const [list, sdkList] = await askBoth(pair, 2, 'tools/list');
      assert.deepEqual(list, sdkList);
      const [late, sdkLate] = await askBoth(pair, 3, 'prompts/list', {});
      assert.deepEqual(late, sdkLate);
    }
  });

  for (const family of FAMILIES) {
    test(`answers of ${family} are the same`, async () => {
      await using pair = await openPair('version: 1\n');
      for (const line of [pair.own, pair.sdk]) await connect(line, family);
      const requests: [string, object][] = [
        ['tools/list', {}],
        ['tools/call', { name: 'file_read', arguments: { path: 'small.txt' } }],
        ['tools/call', { name: 'file_read', arguments: { path: 'large.txt' } }],
        ['tools/call', { name: 'file_read', arguments: { path: 'missing.txt' } }],
        ['tools/call', { name: 'file_read', arguments: { path: '../outside.txt' } }],
        ['tools/call', { name: 'file_read', arguments: { path: 7, more: true } }],
        ['tools/call', { name: 'file_read' }],
        ['tools/call', { name: 'fs_list', arguments: {} }],
        ['tools/call', { name: 'picture', arguments: {} }],
        ['tools/call', { name: 'no_such_tool', arguments: {} }],
        ['tools/call', { name: 'tool_call', arguments: { tool: 'file_read', args: { path: 'small.txt' } } }],
        ['tools/call', { name: 'tool_search', arguments: { query: 'read' } }],
        ['tools/call', { name: 'file_read', arguments: [] }],
        ['tools/call', { arguments: {} }],
        ['tools/call', { name: 'file_read', arguments: { path: 'small.txt' }, task: { ttl: 1 } }],
        ['tools/list', { cursor: 'nowhere' }],
        ['prompts/list', {}],
        ['ping', {}],
        ['no/such', {}],
        ['initialize', {}],
      ];
      for (const [at, [method, params]] of requests.entries()) {
        const [own, sdk] = await askBoth(pair, at, method, paramsFor(family, params));
        assert.deepEqual(own, sdk);
      }
    });

    test(`a cancelled call of ${family} ends and has no answer`, async () => {
      await using pair = await openPair();
      for (const line of [pair.own, pair.sdk]) {
        await connect(line, family);
        await ask(line, 'first', 'tools/call', paramsFor(family, { name: 'fs_list', arguments: {} }));
        const cancel = {
          jsonrpc: '2.0',
          method: 'notifications/cancelled',
          params: paramsFor(family, { requestId: 7 }),
        };
        line.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: paramsFor(family, { name: 'slow' }) });
        while (line.runs.begun === 0) await turn();
        line.send({ ...cancel, params: paramsFor(family, { requestId: '7' }) });
        await ask(line, 'between', 'tools/call', paramsFor(family, { name: 'fs_list', arguments: {} }));
        assert.equal(line.runs.cancelled, 0);
        line.send(cancel);
        while (line.runs.cancelled === 0) await turn();
        const after = await ask(
          line,
          8,
          'tools/call',
          paramsFor(family, { name: 'file_read', arguments: { path: 'small.txt' } }),
        );
        assert.equal((after['result'] as Message)['isError'], undefined);
        assert.ok(!line.messages.some(({ id }) => id === 7));
      }
      assert.equal(pair.own.messages.length, pair.sdk.messages.length);
    });
  }

  test('a question in a call of 2025 reaches the client, and the call runs once', async () => {
    await using pair = await openPair('version: 1\napprovals:\n  require_approval: [file_write]\n');
    for (const [name, line] of Object.entries({ own: pair.own, sdk: pair.sdk })) {
      await connect(line, '2025', ABLE);
      const write = { name: 'file_write', arguments: { path: `${name}.txt`, content: 'x' } };
      for (const [id, action] of [
        [1, 'decline'],
        [2, 'accept'],
      ] as const) {
        line.send({ jsonrpc: '2.0', id, method: 'tools/call', params: write });
        const seen = line.messages.length;
        const asked = await line.next((message) => 'method' in message && line.messages.indexOf(message) >= seen);
        assert.equal(asked['method'], 'elicitation/create');
        assert.equal(existsSync(join(pair.workspace, `${name}.txt`)), false);
        line.send({ jsonrpc: '2.0', id: asked['id'], result: { action, content: { decision: 'allow' } } });
        const { result } = (await line.next((message) => message['id'] === id && 'result' in message)) as {
          result: Message;
        };
        assert.equal(result['isError'] === true, action === 'decline');
      }
      assert.equal(existsSync(join(pair.workspace, `${name}.txt`)), true);
    }
  });

  test('the form shows what a command did on its overlay, and offers no answer for later runs', async () => {
    const lines = ['version: 1', 'shell: { mode: sandboxed }', 'shell_ask: ["^echo"]', 'ask: with_effects', ''];
    await using pair = await openPair(lines.join('\n'));
    await connect(pair.own, '2025', ABLE);
    const run = { name: 'shell_exec', arguments: { cmd: 'echo printed; echo written > made' } };
    for (const [id, decision] of [
      [1, 'deny'],
      [2, 'allow'],
    ] as const) {
      const seen = pair.own.messages.length;
      pair.own.send({ jsonrpc: '2.0', id, method: 'tools/call', params: run });
      const asked = await pair.own.next(
        (message) => message['method'] === 'elicitation/create' && pair.own.messages.indexOf(message) >= seen,
      );
      const params = asked['params'] as { message: string; requestedSchema: { properties: { decision: Message } } };
      assert.match(params.message, /line: echo printed[\s\S]*stdout:\nprinted\n[\s\S]*\+written/);
      assert.deepEqual(params.requestedSchema.properties.decision['enum'], ['allow', 'deny']);
      assert.equal(existsSync(join(pair.workspace, 'made')), false);
      pair.own.send({ jsonrpc: '2.0', id: asked['id'], result: { action: 'accept', content: { decision } } });
      const answer = (await pair.own.next((message) => message['id'] === id && 'result' in message)) as {
        result: Message;
      };
      assert.equal(answer.result['isError'] === true, decision === 'deny');
      assert.equal(existsSync(join(pair.workspace, 'made')), decision === 'allow');
    }
  });

  test('a question in a call of 2026 is its answer, and the call goes on with the next request', async () => {
    await using pair = await openPair('version: 1\napprovals:\n  require_approval: [file_write]\n');
    for (const [name, line] of Object.entries({ own: pair.own, sdk: pair.sdk })) {
      await connect(line, '2026', ABLE);
      const write = { name: 'file_write', arguments: { path: `${name}.txt`, content: 'x' } };
      const { result } = (await ask(line, 1, 'tools/call', paramsFor('2026', write, ABLE))) as { result: Message };
      assert.equal(result['resultType'], 'input_required');
      const [key = ''] = Object.keys(result['inputRequests'] as object);
      const inputResponses = { [key]: { action: 'accept', content: { decision: 'allow' } } };
      const retry = { ...write, inputResponses, requestState: result['requestState'] };
      const done = (await ask(line, 2, 'tools/call', paramsFor('2026', retry, ABLE))) as { result: Message };
      assert.equal(done.result['isError'], undefined);
      assert.equal(existsSync(join(pair.workspace, `${name}.txt`)), true);
    }
  });

  test('a client that cannot be asked is refused in the same words', async () => {
    for (const family of FAMILIES) {
      await using pair = await openPair('version: 1\napprovals:\n  require_approval: [file_write]\n');
      for (const line of [pair.own, pair.sdk]) await connect(line, family);
      const write = paramsFor(family, { name: 'file_write', arguments: { path: 'a.txt', content: 'x' } });
      const [own, sdk] = await askBoth(pair, 1, 'tools/call', write);
      const withoutIds = (message: Message): unknown =>
        JSON.parse(JSON.stringify(message).replaceAll(/[0-9a-f-]{32,36}/g, 'ID'));
      assert.deepEqual(withoutIds(own), withoutIds(sdk));
    }
  });

  test('a client with an unusual opening has the same answers', async () => {
    await using pair = await openPair();
    const clientInfo = { name: 'test', version: '1', icons: [{ src: 'data:,' }] };
    const capabilities = { tools: true, roots: { listChanged: false } };
    const [own, sdk] = await askBoth(pair, 0, 'initialize', {
      protocolVersion: '2025-06-18',
      capabilities,
      clientInfo,
    });
    assert.deepEqual(own, sdk);
    const [answer, sdkAnswer] = await askBoth(pair, 1, 'tools/call', { name: 'fs_list', arguments: {} });
    assert.deepEqual(answer, sdkAnswer);
  });

  test('a message over 10 MiB is refused and the next one is answered', async () => {
    await using pair = await openPair();
    await connect(pair.own, '2025');
    pair.own.sendText(`${'x'.repeat(10 * 1024 * 1024 + 1)}\n`);
    const refusal = await pair.own.next((message) => 'error' in message);
    assert.deepEqual(refusal, { jsonrpc: '2.0', error: { code: -32_700, message: 'Message is longer than 10 MiB' } });
    assert.ok('result' in (await ask(pair.own, 1, 'tools/list')));
  });

  test('answers of one turn leave together', async () => {
    await using pair = await openPair();
    await connect(pair.own, '2025');
    await ask(pair.own, 'first', 'tools/call', { name: 'fs_list', arguments: {} });
    const before = pair.own.chunks;
    const calls = Array.from({ length: 20 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list' }));
    pair.own.sendText(calls.map((call) => `${JSON.stringify(call)}\n`).join(''));
    await pair.own.next(({ id }) => id === 19);
    assert.equal(pair.own.messages.filter(({ id }) => typeof id === 'number').length, 20);
    assert.ok(pair.own.chunks - before < 20);
  });
});

const anyTool = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ name: 'file_read', arguments: { path: 'small.txt' } }) },
  { weight: 4, arbitrary: fc.constant({ name: 'fs_list', arguments: {} }) },
  fc.record({
    name: fc.constantFrom('file_read', 'nope', 'tool_call', ''),
    arguments: fc.dictionary(fc.string(), fc.jsonValue()),
  }),
  fc.record({ name: fc.jsonValue(), arguments: fc.jsonValue() }),
);
const anyMeta = fc.oneof(
  { weight: 4, arbitrary: fc.constant(undefined) },
  { weight: 4, arbitrary: fc.constant(envelope()) },
  fc.constant({}),
  fc.constant({ 'vendor/key': 1, traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }),
  fc.constant({ ...envelope(), 'vendor/key': 1 }),
  fc.constant({ ...envelope(), 'io.modelcontextprotocol/protocolVersion': '2030-01-01' }),
  fc.record({ ...Object.fromEntries(Object.keys(envelope()).map((key) => [key, fc.jsonValue()])) }),
  fc.jsonValue(),
);
const anyMessage = fc.record(
  {
    jsonrpc: fc.oneof({ weight: 20, arbitrary: fc.constant('2.0') }, { weight: 1, arbitrary: fc.jsonValue() }),
    method: fc.constantFrom(
      'tools/call',
      'tools/call',
      'tools/call',
      'tools/list',
      'ping',
      'notifications/cancelled',
      'x',
    ),
    tool: fc.option(anyTool, { nil: undefined }),
    meta: anyMeta,
    extra: fc.constantFrom(undefined, undefined, undefined, undefined, undefined, undefined, 'params', 'message'),
    id: fc.constantFrom('number', 'number', 'number', 'number', 'text', 'text', 'none', 'null', 'fraction'),
  },
  { noNullPrototype: true },
);

describe('any messages', () => {
  for (const family of FAMILIES) {
    test(`have the same answers in ${family} (deep)`, async () => {
      await using pair = await openPair();
      for (const line of [pair.own, pair.sdk]) await connect(line, family);
      let count = 0;
      const ids: Readonly<Record<string, () => unknown>> = {
        number: () => ++count,
        text: () => `t${++count}`,
        null: () => null,
        fraction: () => ++count + 0.5,
      };
      await fc.assert(
        fc.asyncProperty(fc.array(anyMessage, { minLength: 1, maxLength: 24, size: 'max' }), async (some) => {
          const from = [pair.own.messages.length, pair.sdk.messages.length] as const;
          const messages = some.map(({ jsonrpc, method, tool, meta, extra, id }) => {
            const params = {
              ...tool,
              ...(meta === undefined ? {} : { _meta: meta }),
              ...(extra === 'params' ? { more: 1 } : {}),
            };
            const made = ids[id]?.();
            return {
              jsonrpc,
              ...(made === undefined ? {} : { id: made }),
              method,
              params,
              ...(extra === 'message' ? { more: 1 } : {}),
            };
          });
          // What admission refuses never reaches the library; `entrances.deep.test.ts` covers that.
          const texts = messages.map((message) => JSON.stringify(message)).filter((text) => readFrame(text, 1e7).ok);
          const end = `end${++count}`;
          for (const line of [pair.own, pair.sdk]) {
            line.sendText(['not JSON', '[]', ...texts, ''].join('\n'));
            await settle(line, family, end);
          }
          assert.deepEqual(answers(pair.own, from[0]), answers(pair.sdk, from[1]));
        }),
        { numRuns: 150 },
      );
      const results = pair.own.messages.filter((message) => 'result' in message).length;
      assert.ok(results > 30, `${results} results`);
    });
  }
});

/** Everything that was sent before has been answered, if it ever is. */
async function settle(line: Line, family: Family, id: string): Promise<void> {
  for (const round of ['a', 'b']) {
    await ask(line, `${id}${round}`, 'prompts/list', paramsFor(family, {}));
    while ((line.backend.openedSession()?.inFlight ?? 0) > 0) await turn();
    for (let turns = 0; turns < 5; turns++) await turn();
  }
}

function answers(line: Line, from: number): Message[] {
  const key = ({ id }: Message): string => `${typeof id} ${String(id)}`;
  return line.messages.slice(from).sort((one, other) => (key(one) < key(other) ? -1 : 1));
}
