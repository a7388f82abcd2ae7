/** The command as it is installed: bin/tool-runtime.js on what the build made, in processes of its own. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import type { ServerMessage } from '@tool-runtime/protocol';
import { ensureBuilt } from './ensure-built.ts';
import { createScratch, FROM_BIN, runCli, type Scratch, startCli } from './run-cli.ts';
import { connectStdio, isTerminal, type StdioClient } from './stdio-client.ts';

const { version } = createRequire(import.meta.url)('../package.json') as { version: string };

before(() => ensureBuilt());

function run(...args: string[]) {
  return runCli(args, { program: FROM_BIN });
}

function connect(scratch: Scratch, ...args: string[]): Promise<StdioClient> {
  return connectStdio(startCli(['stdio', ...args, ...scratch.options], { program: FROM_BIN }));
}

describe('bin/tool-runtime.js', () => {
  test('prints its version without loading anything else', async () => {
    for (const flag of ['--version', '-V']) {
      assert.deepEqual(await run(flag), { code: 0, stdout: `${version}\n`, stderr: '' });
    }
  });

  test('calls, refuses and complains with 0, 1 and 2 (deep)', async () => {
    using scratch = createScratch();
    scratch.write('a', 'text');
    const call = (...args: string[]) => run('call', ...args, '--json', ...scratch.options);
    const ok = await call('file_read', 'path=a');
    assert.deepEqual([ok.code, ok.stderr, JSON.parse(ok.stdout).data.content], [0, '', 'text']);
    assert.equal((await call('file_read', 'path=b')).code, 1);
    assert.equal((await call('file_read', '{')).code, 2);
    assert.equal((await run('nope')).code, 2);
  });

  test('keeps compiled code in the cache folder of the user, not where others can write', async () => {
    using scratch = createScratch();
    const cache = join(scratch.root, 'cache');
    mkdirSync(cache);
    const env = { XDG_CACHE_HOME: cache, NODE_COMPILE_CACHE: '' };
    assert.equal((await runCli(['--help'], { program: FROM_BIN, env })).code, 0);
    assert.deepEqual(readdirSync(cache), ['tool-runtime']);
  });

  test('keeps its state in the user state folder when told of none', async () => {
    using scratch = createScratch();
    const env = { XDG_STATE_HOME: join(scratch.root, 'xdg'), TOOL_RUNTIME_STATE: '' };
    scratch.write('a', 'text');
    const { code } = await runCli(['call', 'file_read', 'path=a', '-w', scratch.workspace], { program: FROM_BIN, env });
    assert.equal(code, 0);
    assert.equal(readdirSync(join(scratch.root, 'xdg')).length, 1);
    assert.deepEqual(readdirSync(scratch.workspace), ['a']);
  });
});

describe('bin/tool-runtime.js stdio', () => {
  test('answers a thousand requests in flight, each exactly once [S0-10] (deep)', async () => {
    using scratch = createScratch();
    scratch.write('a', 'text');
    using client = await connect(scratch);
    const ids = Array.from({ length: 1_000 }, (_, index) => `r${index}`);
    for (const id of ids) client.send(client.request(id, 'file_read', { path: 'a' }));
    assert.equal(await client.end(), 0);
    const answered = client.messages.map((message) =>
      message.type === 'ToolResponse' && message.ok ? message.request_id : message,
    );
    assert.deepEqual(answered.toSorted(), ids.toSorted());
  });

  test('answers a heartbeat [S0-7]', async () => {
    using scratch = createScratch();
    using client = await connect(scratch);
    client.send(JSON.stringify({ type: 'Heartbeat', session_id: client.sessionId, timestamp: 1 }));
    const beat = await client.until((message) => message.type === 'Heartbeat');
    assert.equal(beat.type === 'Heartbeat' && beat.session_id, client.sessionId);
    assert.equal(await client.end(), 0);
  });

  test('a CancelRequest has no answer of its own', async () => {
    using scratch = createScratch();
    scratch.write('a', 'text');
    using client = await connect(scratch);
    const cancel = (request_id: string) =>
      JSON.stringify({ type: 'CancelRequest', request_id, session_id: client.sessionId, timestamp: 1 });
    client.send(cancel('unknown'));
    client.send(client.request('r1', 'file_read', { path: 'a' }));
    client.send(cancel('r1'));
    assert.equal(await client.end(), 0);
    assert.deepEqual(
      client.messages.map((message) => isTerminal(message, 'r1')),
      [true],
    );
  });

  test('answers every malformed line exactly once and names what is wrong with it [S0-3 S0-6] (deep)', async () => {
    using scratch = createScratch();
    using client = await connect(scratch);
    const request = (more: object) => client.request('r1', 'file_read', { path: 'a' }, more);
    const cases: readonly (readonly [string | Uint8Array, string])[] = [
      ['{"type":', 'null E_VALIDATION_FAIL type'],
      ['nonsense', 'null E_VALIDATION_FAIL syntax'],
      ['{"type":"Heartbeat","type":"Heartbeat"}', 'null E_VALIDATION_FAIL type'],
      [request({}).replace('"path"', '"path":"b","path"'), 'r1 E_VALIDATION_FAIL args.path'],
      [request({ tool: 5 }), 'r1 E_VALIDATION_FAIL tool'],
      [request({ args: [] }), 'r1 E_VALIDATION_FAIL args'],
      [request({ timestamp: '1' }), 'r1 E_VALIDATION_FAIL timestamp'],
      [request({ extra: 1 }), 'r1 E_VALIDATION_FAIL extra'],
      [request({ request_id: '' }), 'null E_VALIDATION_FAIL request_id'],
      [request({ session_id: 'other' }), 'r1 E_POLICY session_id'],
      [request({ type: 'ToolResponse' }), 'r1 E_VALIDATION_FAIL type'],
      ['[]', 'null E_VALIDATION_FAIL invalid_fields'],
      ['{"type":"Heartbeat"}', 'null E_VALIDATION_FAIL session_id'],
      ['{\u0000}', 'null E_VALIDATION_FAIL syntax'],
      [Buffer.from([0x22, 0xc3, 0x28, 0x22, 0x0a]), 'null E_VALIDATION_FAIL invalid_utf8'],
      [`{"a":${'['.repeat(1_000)}`, 'null E_VALIDATION_FAIL a[0]…'],
      [`"${'x'.repeat(17 * 1024 * 1024)}"`, 'null E_VALIDATION_FAIL too_large'],
    ];
    for (const [line, expected] of cases) {
      const before = client.messages.length;
      client.send(line);
      await client.until(() => client.messages.length > before);
      const answer = client.messages[before];
      assert.equal(client.messages.length, before + 1);
      assert.equal(outline(answer), expected, String(line).slice(0, 80));
    }
    assert.equal(await client.end(), 0);
    assert.equal(client.messages.length, cases.length);
  });

  test('takes CRLF and skips blank lines', async () => {
    using scratch = createScratch();
    scratch.write('a', 'text');
    using client = await connect(scratch);
    client.send(Buffer.from(`\n\r\n   \n${client.request('r1', 'file_read', { path: 'a' })}\r\n\n`));
    assert.equal(await client.end(), 0);
    assert.deepEqual(
      client.messages.map((message) => message.type === 'ToolResponse' && message.ok),
      [true],
    );
  });

  test('answers an unknown tool and unknown arguments as calls that failed [S0-8 S1-45]', async () => {
    using scratch = createScratch();
    using client = await connect(scratch);
    client.send(client.request('r1', 'no_such_tool', {}));
    client.send(client.request('r2', 'file_read', { path: 'a', surprise: 1 }));
    assert.equal(await client.end(), 0);
    const codes = client.messages.map((message) =>
      message.type === 'ToolResponse' ? [message.request_id, message.errors[0]?.code] : [],
    );
    assert.deepEqual(codes.toSorted(), [
      ['r1', 'E_POLICY'],
      ['r2', 'E_VALIDATION_FAIL'],
    ]);
  });

  test('neither crashes nor hangs when its client stops reading and keeps writing (deep)', async () => {
    using scratch = createScratch();
    scratch.write('a', 'x'.repeat(10_000));
    const child = startCli(['stdio', ...scratch.options], { program: FROM_BIN });
    let complaint = '';
    child.stderr.on('data', (chunk) => {
      complaint += String(chunk);
    });
    child.stdin.on('error', () => {});
    using client = await connectStdio(child);
    child.stdout.destroy();
    for (let index = 0; index < 200; index++) client.send(client.request(`r${index}`, 'file_read', { path: 'a' }));
    assert.deepEqual([await client.closed, complaint], [[0, null], '']);
  });

  test('survives ten thousand random lines and then still answers [S0-9] (deep)', async () => {
    using scratch = createScratch();
    scratch.write('a', 'text');
    using client = await connect(scratch);
    const random = createRandom(20_240_607);
    let expected = 0;
    for (let index = 0; index < 10_000; index++) {
      const line = randomLine(random, client);
      if (line.toString('utf8').trim() !== '') expected += 1;
      client.send(Buffer.concat([line, Buffer.from('\n')]));
      if (index % 500 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    client.send(client.request('end', 'file_read', { path: 'a' }));
    assert.equal(await client.end(), 0);
    assert.equal(client.messages.length, expected + 1);
    assert.ok(
      client.messages.some((message) => message.type === 'ToolResponse' && message.ok && message.request_id === 'end'),
    );
  });
});

function outline(message: ServerMessage | undefined): string {
  if (message?.type !== 'ErrorMessage') return message?.type ?? 'nothing';
  const subject = String(message.details?.['path'] ?? message.details?.['reason']);
  return `${message.request_id} ${message.code} ${subject.replace(/(?:\[0\]){2,}/, '[0]')}`;
}

/** xorshift: the same lines in every run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

/** Noise, or a request with some bytes changed so that it is never a valid one. */
function randomLine(random: (below: number) => number, client: StdioClient): Buffer {
  const withoutNewline = (bytes: Buffer) => Buffer.from(bytes.map((byte) => (byte === 0x0a ? 0x20 : byte)));
  if (random(2) === 0) return withoutNewline(Buffer.from(Array.from({ length: random(60) }, () => random(256))));
  const bytes = Buffer.from(client.request(`r${random(50)}`, 'file_read', { path: 'a' }, { unknown: random(1_000) }));
  for (let count = random(4); count > 0; count--) bytes[random(bytes.length)] = random(256);
  return withoutNewline(bytes);
}
