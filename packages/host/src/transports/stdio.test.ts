import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import { type ServerMessage, serverMessageSchema } from '@tool-runtime/protocol';
import { nothing, openScratchRuntime, wait } from '@tool-runtime/sdk/testing';
import fc from 'fast-check';
import { type StdioOptions, serveStdio } from './stdio.ts';

async function open(options: Partial<StdioOptions> = {}) {
  const scratch = await openScratchRuntime({ tools: [nothing, wait] });
  const events = scratch.session.events();
  const [input, output] = [new PassThrough(), new PassThrough({ highWaterMark: 1 << 24 })];
  const served = serveStdio(scratch.session, {
    input,
    output,
    serverVersion: '9.9.9',
    maxRequestBytes: 2_000,
    events: 'progress',
    ...options,
  });
  const request = (request_id: string, tool: string, args: object = {}, more: object = {}) =>
    JSON.stringify({
      type: 'ToolRequest',
      tool,
      args,
      request_id,
      session_id: scratch.session.id,
      timestamp: 1,
      ...more,
    });
  return {
    ...scratch,
    input,
    output,
    served,
    request,
    send: (line: string | Uint8Array) => input.write(typeof line === 'string' ? `${line}\n` : line),
    /** Resolves when so many calls have reported progress. */
    async started(count = 1): Promise<void> {
      const seen = new Set<string>();
      for await (const { message } of events) {
        if (message.event === 'TaskProgress') seen.add(message.request_id);
        if (seen.size === count) return;
      }
    },
    /** Ends the input and gives every message but the SessionAck. */
    async finish(): Promise<ServerMessage[]> {
      input.end();
      await served;
      return messagesIn(output).slice(1);
    },
    [Symbol.asyncDispose]: scratch.dispose,
  };
}

function messagesIn(output: PassThrough): ServerMessage[] {
  const text = String(output.read() ?? '');
  assert.ok(text === '' || text.endsWith('\n'));
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => serverMessageSchema.parse(JSON.parse(line)));
}

function terminalIds(messages: readonly ServerMessage[]): (string | null)[] {
  return messages.flatMap((message) =>
    message.type === 'ToolResponse' || message.type === 'ErrorMessage' ? [message.request_id] : [],
  );
}

describe('serveStdio', () => {
  test('speaks first, with the session it opened [S0-2]', async () => {
    await using client = await open();
    await new Promise(setImmediate);
    const [first] = messagesIn(client.output);
    assert.ok(first?.type === 'SessionAck');
    const { timestamp, ...rest } = first;
    assert.deepEqual(rest, {
      type: 'SessionAck',
      session_id: client.session.id,
      accepted: true,
      server_version: '9.9.9',
    });
    assert.ok(Number.isInteger(timestamp));
    client.input.end();
    await client.served;
  });

  test('answers what still runs when the input ends, then ends the session [S0-10]', async () => {
    await using client = await open();
    client.send(client.request('slow', 'probe_wait', { ms: 50 }));
    client.input.write(client.request('last', 'probe_nothing'));
    assert.deepEqual(terminalIds(await client.finish()).toSorted(), ['last', 'slow']);
    await assert.rejects(client.session.call('probe_nothing', {}), { code: 'E_POLICY' });
  });

  test('serves more requests than may be held at once, each exactly once and in little memory [S0-10]', async () => {
    await using client = await open({ maxHeldBytes: 40_000 });
    const ids = Array.from({ length: 500 }, (_, index) => `r${index}`);
    client.input.write(ids.map((id) => `${client.request(id, 'probe_nothing')}\n`).join(''));
    assert.deepEqual(terminalIds(await client.finish()).toSorted(), ids.toSorted());
  });

  test('reads no further while too much is unanswered', async () => {
    await using client = await open({ maxHeldBytes: 20_000 });
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) client.send(client.request(id, 'probe_wait', { ms: 60_000 }));
    await client.started(3);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const started = messagesIn(client.output).flatMap((m) => (m.type === 'EventMessage' ? [m.request_id] : []));
    assert.deepEqual(started, ['a', 'b', 'c']);
    client.output.destroy();
    await client.served;
  });

  test('a request that is far too large and whose id cannot be found ends the connection with a reason', async () => {
    await using client = await open();
    const hidden = { before: 'x'.repeat(20_000), request_id: 'hidden', after: 'x'.repeat(20_000) };
    client.send(client.request('first', 'probe_nothing'));
    client.send(JSON.stringify(hidden));
    client.send(client.request('after', 'probe_nothing'));
    await client.served;
    const messages = messagesIn(client.output);
    const refused = messages.find((message) => message.type === 'ErrorMessage');
    assert.ok(refused?.type === 'ErrorMessage' && refused.request_id === null);
    assert.deepEqual([refused.details?.['reason'], refused.details?.['closing']], ['too_large', true]);
    assert.deepEqual(
      terminalIds(messages).filter((id) => id !== null),
      ['first'],
    );
  });

  test('a request of any size is addressed by its id, also when it is far too large', async () => {
    await using client = await open();
    client.send(client.request('fits', 'probe_nothing', { text: 'x'.repeat(1_000) }));
    client.send(client.request('large', 'probe_nothing', { text: 'x'.repeat(2_000) }));
    client.send(client.request('huge', 'probe_nothing', { text: 'x'.repeat(9_000) }));
    client.send(client.request('after', 'probe_nothing'));
    const messages = await client.finish();
    const reasons = messages.map((message) => {
      if (message.type === 'ToolResponse') return `${message.request_id} ${message.ok}`;
      return message.type === 'ErrorMessage' ? `${message.request_id} ${message.details?.['reason']}` : message.type;
    });
    assert.deepEqual(reasons.toSorted(), ['after true', 'fits true', 'huge too_large', 'large too_large']);
    const huge = messages.find((message) => message.type === 'ErrorMessage' && message.request_id === 'huge');
    assert.match(huge?.type === 'ErrorMessage' ? huge.message : '', /^Line is longer/, 'let go before it was whole');
  });

  test('answers bytes that are no UTF-8 once, and goes on [S0-6]', async () => {
    await using client = await open();
    client.send(Buffer.from([0x7b, 0xff, 0xfe, 0x7d, 0x0a]));
    client.send(client.request('next', 'probe_nothing'));
    const messages = await client.finish();
    assert.equal(messages.length, 2);
    const refused = messages.find((message) => message.type === 'ErrorMessage');
    assert.equal(refused?.message, 'Line is not valid UTF-8');
    assert.equal(refused?.details?.['reason'], 'invalid_utf8');
  });

  test('stops what runs and ends when the client no longer reads', async () => {
    await using client = await open();
    client.send(client.request('r1', 'probe_wait', { ms: 60_000 }));
    await client.started();
    client.output.destroy(new TypeError('reader left'));
    await client.served;
    const results = [...client.runtime.records({ kind: 'result' })];
    assert.deepEqual(
      results.map((record) => record.kind === 'result' && record.status),
      ['cancelled'],
    );
  });

  test('waits for a client that reads slowly, and loses nothing', async () => {
    const output = new PassThrough({ highWaterMark: 100 });
    await using client = await open({ output });
    const ids = Array.from({ length: 50 }, (_, index) => `r${index}`);
    for (const id of ids) client.send(client.request(id, 'probe_nothing', { text: 'y'.repeat(200) }));
    client.input.end();
    const lines: string[] = [];
    const reading = (async () => {
      let rest = '';
      for await (const chunk of output) {
        rest += String(chunk);
        await new Promise((resolve) => setImmediate(resolve));
        const parts = rest.split('\n');
        rest = parts.pop() ?? '';
        lines.push(...parts);
      }
    })();
    await client.served;
    output.end();
    await reading;
    const messages = lines.map((line) => serverMessageSchema.parse(JSON.parse(line)));
    assert.deepEqual(terminalIds(messages).toSorted(), ids.toSorted());
  });

  test('cancels what runs and ends in order when its signal fires', async () => {
    const controller = new AbortController();
    await using client = await open({ signal: controller.signal });
    client.send(client.request('r1', 'probe_wait', { ms: 60_000 }));
    await client.started();
    controller.abort();
    await client.served;
    assert.deepEqual(terminalIds(messagesIn(client.output)), ['r1']);
    assert.equal([...client.runtime.records({ kind: 'session' })].length, 2);
  });

  test('serves nothing when its signal fired before', async () => {
    await using client = await open({ signal: AbortSignal.abort() });
    client.send(client.request('r1', 'probe_nothing'));
    await client.served;
    assert.deepEqual(terminalIds(messagesIn(client.output)), []);
  });

  test('serves what was read whole when the input breaks off', async () => {
    await using client = await open();
    client.send(client.request('whole', 'probe_wait', { ms: 20 }));
    client.input.write(client.request('half', 'probe_nothing').slice(0, 20));
    await client.started();
    client.input.destroy(new TypeError('cable cut'));
    await client.served;
    assert.deepEqual(terminalIds(messagesIn(client.output)).toSorted(), [null, 'whole'].toSorted());
  });

  test('survives whatever lines it is sent and answers each that is not blank exactly once [S0-9 S0-10] (deep)', async () => {
    const piece = fc.oneof(
      fc.string(),
      fc.json(),
      fc.constantFrom(
        '{}',
        '[]',
        'null',
        '{"type":"ToolRequest"}',
        '{"type":"Heartbeat","type":1}',
        '\0',
        '\u2028',
        '"',
      ),
      fc
        .record({
          type: fc.constantFrom('ToolRequest', 'CancelRequest', 'x'),
          tool: fc.jsonValue(),
          args: fc.jsonValue(),
        })
        .map((value) => JSON.stringify(value)),
    );
    const lines = fc.array(
      piece.map((line) => line.replaceAll('\n', ' ')),
      { minLength: 100, maxLength: 200, size: 'max' },
    );
    await fc.assert(
      fc.asyncProperty(lines, async (list) => {
        await using client = await open({ maxRequestBytes: 100_000 });
        for (const line of list) client.send(line);
        client.send(client.request('end', 'probe_nothing'));
        const messages = await client.finish();
        assert.equal(messages.length, list.filter((line) => line.trim() !== '').length + 1);
        assert.deepEqual(
          messages.flatMap((message) => (message.type === 'ToolResponse' ? [message.request_id] : [])),
          ['end'],
        );
      }),
      { numRuns: 30 },
    );
  });
});
