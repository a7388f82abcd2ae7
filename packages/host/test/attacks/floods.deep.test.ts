/**
 * Clients that never finish, never read, never stop. Others are answered meanwhile, and when it is over nothing is left:
 * no connections, no calls, no memory.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { openHost, type TestHost, type TestHostOptions, TOKENS } from '../open-host.ts';
import { exchange, type RawAnswer, readAnswer, readAnswerHead, takeChunk, writeHead } from '../wire/raw-http.ts';
import { type Address, addressOf, openSocket, type RawSocket } from '../wire/raw-socket.ts';
import { nextAfterPings, nextFrame, upgrade, writeFrame } from '../wire/raw-web-socket.ts';
import { eventually } from '../wire/within.ts';
import { chatty } from './chatty-tool.ts';

const own = (host: TestHost): string => new URL(host.url).host;
const addresses = (host: TestHost): readonly Address[] => [addressOf(host.url), { path: host.socket }];

function request(sessionId: string, requestId: string, path: string): string {
  return JSON.stringify({
    type: 'ToolRequest',
    tool: 'file_read',
    args: { path },
    request_id: requestId,
    session_id: sessionId,
    timestamp: 1,
  });
}

function unchunked(bytes: Buffer): string {
  const parts: Buffer[] = [];
  for (let rest = bytes, chunk = takeChunk(rest); chunk !== undefined; chunk = takeChunk(rest)) {
    parts.push(chunk.content);
    rest = rest.subarray(chunk.used);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** On a connection of its own, which is gone when the answer is there. */
function ask(host: TestHost, method: string, target: string, body?: string): Promise<RawAnswer> {
  const headers = ['Connection: close'];
  const request = { method, target, host: own(host), token: TOKENS.operator, headers };
  return exchange(addressOf(host.url), body === undefined ? request : { ...request, body });
}

async function openSession(host: TestHost): Promise<string> {
  const answer = await ask(host, 'POST', '/v1/sessions', '{}');
  assert.equal(answer.status, 201);
  return String(answer.json()['session_id']);
}

async function endSession(host: TestHost, sessionId: string): Promise<void> {
  assert.equal((await ask(host, 'DELETE', `/v1/sessions/${sessionId}`)).status, 204);
}

/** A decent client gets its answer. */
async function answersOthers(host: TestHost): Promise<void> {
  const sessionId = await openSession(host);
  const answer = await ask(host, 'POST', '/v1/call', request(sessionId, 'other', 'hello.txt'));
  assert.equal(answer.json()['ok'], true);
  await endSession(host, sessionId);
}

async function isQuietAgain(host: TestHost): Promise<void> {
  await eventually(() => {
    const { in_flight, approvals, connections } = host.host.status();
    return in_flight + approvals + connections === 0;
  }, 'a quiet host');
}

async function withHost(options: TestHostOptions, attack: (host: TestHost) => Promise<void>): Promise<void> {
  await using host = await openHost(options);
  await attack(host);
  await answersOthers(host);
  await isQuietAgain(host);
}

describe('requests that never end', () => {
  const slow = { limits: { requestMs: 300 } };

  test('are ended by the host: headers', async () => {
    await withHost(slow, async (host) => {
      for (const address of addresses(host)) {
        const sockets = await Promise.all(Array.from({ length: 50 }, () => openSocket(address)));
        const drip = setInterval(() => {
          for (const socket of sockets) socket.write('x');
        }, 50);
        for (const socket of sockets) socket.write(`GET /v1/status HTTP/1.1\r\nHost: ${own(host)}\r\nX-Slow: `);
        await answersOthers(host);
        for (const socket of sockets) assert.equal((await readAnswer(socket)).status, 408);
        await Promise.all(sockets.map((socket) => socket.ended));
        clearInterval(drip);
        for (const socket of sockets) socket.cut();
      }
    });
  });

  test('are ended by the host: bodies, with and without a length', async () => {
    await withHost(slow, async (host) => {
      for (const address of addresses(host)) {
        for (const line of ['Content-Length: 100', 'Transfer-Encoding: chunked']) {
          const sockets = await Promise.all(Array.from({ length: 20 }, () => openSocket(address)));
          const head = { method: 'POST', target: '/v1/call', host: own(host), token: TOKENS.operator };
          for (const socket of sockets)
            socket.write(`${writeHead({ ...head, headers: [line] })}${line.startsWith('T') ? '5\r\n' : ''}{`);
          await answersOthers(host);
          await Promise.all(sockets.map((socket) => socket.ended));
          for (const socket of sockets) socket.cut();
        }
      }
    });
  });

  test('are ended by the host: connections that say nothing, or nothing more', async () => {
    await withHost(slow, async (host) => {
      const silent = await Promise.all(Array.from({ length: 30 }, () => openSocket(addressOf(host.url))));
      const polite = await openSocket(addressOf(host.url));
      polite.write(writeHead({ target: '/healthz', host: own(host) }));
      assert.equal((await readAnswer(polite)).status, 200);
      await Promise.all([...silent, polite].map((socket) => socket.ended));
      for (const socket of [...silent, polite]) socket.cut();
    });
  });
});

describe('clients that do not read', () => {
  const FILE = 'x'.repeat(64 * 1024);
  const CALLS = 400;
  const options: TestHostOptions = {
    files: { big: FILE },
    limits: { maxUnsentBytes: 128 * 1024, maxHeldBytes: 16 * 1024 * 1024, heartbeatMs: 60_000 },
    registryText: 'version: 1\nlimits: {max_in_flight: 8}\n',
  };

  const finished = (host: TestHost): number =>
    Array.from(host.host.workspaces.all[0]?.runtime.records({ kind: 'result' }) ?? []).length;

  /** Resolves when no more calls end: the rest waits for the client. */
  async function standstill(host: TestHost): Promise<number> {
    let seen = -1;
    return eventually(async () => {
      const before = seen;
      seen = finished(host);
      await new Promise((resolve) => setTimeout(resolve, 200));
      return seen > 0 && before === seen && finished(host) === seen && seen;
    }, 'a standstill');
  }

  /** Answers may weigh what the client, the kernel and one round of calls hold; never what all of them do. */
  async function attack(host: TestHost, { socket, write, answers }: Deaf): Promise<void> {
    for (let index = 0; index < CALLS; index++) write(`r${index}`);
    const done = await standstill(host);
    assert.ok(done < CALLS, `${done} of ${CALLS} calls ran for a client that does not read`);
    await answersOthers(host);
    // The twin: a client that reads again gets every answer, once.
    socket.socket.resume();
    const ids = new Set<string>();
    while (ids.size < CALLS) ids.add(await answers());
    assert.equal(finished(host), CALLS + 1);
    socket.cut();
  }

  interface Deaf {
    readonly socket: RawSocket;
    write(requestId: string): void;
    answers(): Promise<string>;
  }

  test('wait for their answers as requests, not as answers: WebSocket', async () => {
    await withHost(options, async (host) => {
      const { socket } = await upgrade(addressOf(host.url), { host: own(host), token: TOKENS.caller });
      const { session_id } = JSON.parse(String((await nextFrame(socket)).payload)) as { session_id: string };
      socket.socket.pause();
      await attack(host, {
        socket,
        write: (id) => socket.write(writeFrame(request(session_id, id, 'big'))),
        answers: async () =>
          (JSON.parse(String((await nextFrame(socket)).payload)) as { request_id: string }).request_id,
      });
    });
  });

  test('wait for their answers as requests, not as answers: JSON lines', async () => {
    await withHost(options, async (host) => {
      const socket = await openSocket({ path: host.socket });
      const line = (): Promise<string> =>
        socket.next((bytes) => {
          const end = bytes.indexOf('\n');
          return end === -1 ? undefined : [bytes.toString('utf8', 0, end), end + 1];
        }, 'a line');
      socket.write('\n');
      const { session_id } = JSON.parse(await line()) as { session_id: string };
      socket.socket.pause();
      await attack(host, {
        socket,
        write: (id) => socket.write(`${request(session_id, id, 'big')}\n`),
        answers: async () => (JSON.parse(await line()) as { request_id: string }).request_id,
      });
    });
  });

  const TIMES = 3000;
  const talk: TestHostOptions = { limits: { maxUnsentBytes: 64 * 1024 }, runtime: { tools: [chatty] } };
  const talking = (sessionId: string): string =>
    JSON.stringify({
      type: 'ToolRequest',
      tool: 'probe_chatty',
      args: { times: TIMES, size: 10_000 },
      request_id: 'talk',
      session_id: sessionId,
      timestamp: 1,
    });

  interface Told {
    readonly event?: string;
    readonly data?: { readonly missed?: number };
  }

  /** Everything is accounted for: what came, and how much did not. */
  function assertGaps(told: readonly Told[]): void {
    const missed = told.flatMap(({ event, data }) => (event === 'EventsMissed' ? [data?.missed ?? 0] : []));
    const came = told.filter(({ event }) => event === 'TaskProgress').length;
    assert.ok(missed.length > 0 && came < TIMES / 2, `${came} came, ${missed.join()} missed`);
    assert.ok(came + missed.reduce((sum, count) => sum + count, 0) <= TIMES);
  }

  test('lose events, not answers, and are told how many: WebSocket', async () => {
    await withHost(talk, async (host) => {
      const { socket } = await upgrade(addressOf(host.url), { host: own(host), token: TOKENS.caller });
      const read = async () => JSON.parse(String((await nextAfterPings(socket)).payload)) as Told & { type: string };
      const { session_id } = (await read()) as unknown as { session_id: string };
      socket.socket.pause();
      socket.write(writeFrame(talking(session_id)));
      await eventually(() => host.host.status().in_flight === 1, 'the call');
      await eventually(() => host.host.status().in_flight === 0, 'the end of the call');
      socket.socket.resume();
      const told: Told[] = [];
      for (let message = await read(); message.type !== 'ToolResponse'; message = await read()) told.push(message);
      // The gap is told with the next event there is room for.
      socket.write(writeFrame(talking(session_id).replace('"talk"', '"again"')));
      for (let message = await read(); message.type !== 'ToolResponse'; message = await read()) told.push(message);
      const missed = told.findIndex(({ event }) => event === 'EventsMissed');
      assert.ok(missed > 0);
      assertGaps(told.slice(0, missed + 1));
      socket.cut();
    });
  });

  test('lose events and are told how many: server-sent events', async () => {
    await withHost(talk, async (host) => {
      const sessionId = await openSession(host);
      const socket = await openSocket(addressOf(host.url));
      const target = `/v1/events?session_id=${sessionId}`;
      socket.write(writeHead({ target, host: own(host), token: TOKENS.operator }));
      await readAnswerHead(socket);
      socket.socket.pause();
      assert.equal((await ask(host, 'POST', '/v1/call', talking(sessionId))).status, 200);
      socket.socket.resume();
      // The gap is told with the next event there is room for.
      let calls = 0;
      const text = await eventually(async () => {
        calls += 1;
        const small = talking(sessionId).replace(`"times":${TIMES}`, '"times":1').replace('"talk"', `"${calls}"`);
        assert.equal((await ask(host, 'POST', '/v1/call', small)).status, 200);
        const all = unchunked(socket.received);
        return all.includes('EventsMissed') && all;
      }, 'the marker of the gap');
      const told = [...text.matchAll(/^data: (.*)\n\n/gm)].map(([, data]) => JSON.parse(data ?? '') as Told);
      assertGaps(told);
      socket.cut();
      await endSession(host, sessionId);
    });
  });

  test('are dropped when they are not even there: pings without an answer', async () => {
    await withHost({ limits: { heartbeatMs: 100 } }, async (host) => {
      // Reads, but never answers a ping.
      const { socket } = await upgrade(addressOf(host.url), { host: own(host), token: TOKENS.caller });
      await socket.ended;
      socket.cut();
    });
  });
});

describe('floods', () => {
  test('of garbage on every port leave the host as it was', async () => {
    await withHost({}, async (host) => {
      const batches = Array.from({ length: 10 }, (_, index) => index);
      for (const batch of batches) {
        const sockets = await Promise.all(
          Array.from({ length: 40 }, (_, index) => openSocket(addresses(host)[index % 2] as Address)),
        );
        for (const [index, socket] of sockets.entries()) {
          // Some begin like HTTP, some like lines, most like nothing.
          const start = ['GET / ', '{"type":', '', '\n\n'][(batch + index) % 4] as string;
          socket.write(Buffer.concat([Buffer.from(start), randomBytes(2000 + index)]));
          if (index % 3 === 0) socket.end();
        }
        await answersOthers(host);
        for (const socket of sockets) socket.cut();
      }
    });
  });

  test('of lines that are no messages are answered one by one', async () => {
    await withHost({}, async (host) => {
      const socket = await openSocket({ path: host.socket });
      for (let index = 0; index < 5000; index++) socket.write(`{"type":"${index}"}\n`);
      let answers = 0;
      while (answers < 5001) {
        answers += await socket.next((bytes) => {
          const end = bytes.lastIndexOf('\n') + 1;
          return end === 0 ? undefined : [bytes.toString('latin1', 0, end).split('\n').length - 1, end];
        }, 'answers');
      }
      assert.equal(answers, 5001);
      socket.cut();
    });
  });

  test('of connections come and go by the thousand', async () => {
    await withHost({ limits: { maxSessions: 100 } }, async (host) => {
      for (let round = 0; round < 15; round++) {
        const opened = await Promise.all(
          // Those for whom there is no place in the line are turned away by the kernel.
          Array.from({ length: 200 }, (_, index) =>
            openSocket(addresses(host)[index % 2] as Address).catch(() => undefined),
          ),
        );
        for (const [index, socket] of opened.entries()) {
          if (index % 20 === 1) socket?.write('\n');
          if (index % 4 === 2) socket?.write('GET');
        }
        await new Promise((resolve) => setImmediate(resolve));
        for (const socket of opened) socket?.cut();
      }
      await answersOthers(host);
    });
  });

  test('of connections beyond the limit are turned away, and let in when there is room again', async () => {
    await withHost({ limits: { maxConnections: 20 } }, async (host) => {
      const first = await Promise.all(Array.from({ length: 20 }, () => openSocket(addressOf(host.url))));
      await eventually(() => host.host.status().connections === 20, 'twenty connections');
      const late = await openSocket(addressOf(host.url));
      await late.ended;
      assert.equal(host.host.status().connections, 20, 'the others stay');
      for (const socket of [...first, late]) socket.cut();
      await eventually(() => host.host.status().connections === 0, 'no connections');
    });
  });

  test('of connections beyond the limit are turned away on the Unix socket too', async () => {
    await withHost({ limits: { maxConnections: 5 } }, async (host) => {
      const address = { path: host.socket };
      const first = await Promise.all(Array.from({ length: 5 }, () => openSocket(address)));
      const late = await openSocket(address);
      await eventually(() => late.isEnded || late.received.length > 0, 'an end or a greeting');
      assert.equal(late.received.length, 0);
      await eventually(() => first.every(({ received }) => received.length > 0), 'the greetings of the others');
      for (const socket of [...first, late]) socket.cut();
    });
  });

  test('of sessions beyond the limit are refused, and those whose clients did not come back give way', async () => {
    await withHost({ limits: { maxSessions: 5 } }, async (host) => {
      const open = async (): Promise<number> => (await ask(host, 'POST', '/v1/sessions', '{}')).status;
      const kept = await Promise.all(Array.from({ length: 4 }, () => openSession(host)));
      const dropped = await upgrade(addressOf(host.url), { host: own(host), token: TOKENS.operator });
      assert.equal(dropped.answer.status, 101);
      assert.equal(await open(), 429);
      dropped.socket.cut();
      await eventually(async () => (await open()) === 201, 'room for another session');
      assert.equal(await open(), 429);
      for (const sessionId of kept) await endSession(host, sessionId);
    });
  });
});
