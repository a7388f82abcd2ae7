/**
 * Requests inside requests. Whatever a front could read differently from us is refused and the connection ended; the
 * hidden request would open a session, so a session that was opened gives it away.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openHost, type TestHost, TOKENS } from '../open-host.ts';
import { readAnswer, writeHead, writeRequest } from '../wire/raw-http.ts';
import { type Address, addressOf, openSocket, type RawSocket } from '../wire/raw-socket.ts';
import { outcomeOf } from './attempt.ts';

let host: TestHost;
let own = '';
before(async () => {
  host = await openHost();
  own = new URL(host.url).host;
});
after(() => host[Symbol.asyncDispose]());

const addresses = (): readonly Address[] => [addressOf(host.url), { path: host.socket }];

/** Opens a session when it is taken for a request. */
function hidden(): string {
  return String(
    writeRequest({ method: 'POST', target: '/v1/sessions', host: own, token: TOKENS.operator, body: '{}' }),
  );
}

function head(lines: readonly string[], target = '/v1/call'): string {
  return writeHead({ method: 'POST', target, host: own, token: TOKENS.operator, headers: lines });
}

/** Every answer until the host ends the connection. */
async function answersTo(bytes: string | Buffer, address: Address): Promise<string[]> {
  using socket = await openSocket(address);
  socket.write(bytes);
  return await allAnswers(socket);
}

async function allAnswers(socket: RawSocket): Promise<string[]> {
  const answers: string[] = [];
  for (;;) {
    try {
      answers.push(outcomeOf(await readAnswer(socket)));
    } catch {
      // The connection ended between two answers.
      assert.equal(socket.received.length, 0);
      return answers;
    }
  }
}

const CHUNKED = 'Transfer-Encoding: chunked';
/** The head of a request, and what makes it two things at once. */
const AMBIGUOUS: Readonly<Record<string, () => string>> = {
  'a length and chunks': () => `${head(['Content-Length: 4', CHUNKED])}0\r\n\r\n${hidden()}`,
  'chunks and a length': () => `${head([CHUNKED, 'Content-Length: 4'])}0\r\n\r\n${hidden()}`,
  'two lengths': () => `${head(['Content-Length: 2', 'Content-Length: 300'])}{}${hidden()}`,
  'the same length twice': () => `${head(['Content-Length: 2', 'Content-Length: 2'])}{}${hidden()}`,
  'a list of lengths': () => `${head(['Content-Length: 2, 2'])}{}${hidden()}`,
  'a length with a sign': () => `${head(['Content-Length: +2'])}{}${hidden()}`,
  'a length in hex': () => `${head(['Content-Length: 0x2'])}{}${hidden()}`,
  'a negative length': () => head(['Content-Length: -1']) + hidden(),
  'a length beyond numbers': () => head(['Content-Length: 99999999999999999999999']) + hidden(),
  'a length without a number': () => `${head(['Content-Length: '])}{}${hidden()}`,
  'chunks under another name': () => `${head(['Transfer-Encoding: xchunked'])}0\r\n\r\n${hidden()}`,
  'chunks that are not last': () => `${head(['Transfer-Encoding: chunked, identity'])}0\r\n\r\n${hidden()}`,
  'chunks twice': () => `${head([CHUNKED, 'Transfer-Encoding: identity'])}0\r\n\r\n${hidden()}`,
  'a space before the colon': () => `${head(['Transfer-Encoding : chunked'])}0\r\n\r\n${hidden()}`,
  'a folded header': () => `${head(['X-Folded: a', ' Transfer-Encoding: chunked'])}0\r\n\r\n${hidden()}`,
  'a header without a name': () => head([': value']) + hidden(),
  'a header without a colon': () => head(['Nothing']) + hidden(),
  'a zero byte in a header': () => head(['X-Zero: a\0b']) + hidden(),
  'a bare carriage return': () => head(['X-Return: a\rTransfer-Encoding: chunked']) + hidden(),
  'bare line feeds': () => head(['Content-Length: 0']).replaceAll('\r\n', '\n') + hidden(),
  'a bare line feed between headers': () => `${head(['X-Feed: a\nTransfer-Encoding: chunked'])}0\r\n\r\n${hidden()}`,
  'a chunk without a size': () => `${head([CHUNKED])}\r\n{}\r\n0\r\n\r\n${hidden()}`,
  'a chunk with a size in 0x': () => `${head([CHUNKED])}0x2\r\n{}\r\n0\r\n\r\n${hidden()}`,
  'a chunk size beyond numbers': () => `${head([CHUNKED])}fffffffffffffffffff\r\n{}\r\n0\r\n\r\n${hidden()}`,
  'a chunk that is longer than it says': () => `${head([CHUNKED])}2\r\n{}}\r\n0\r\n\r\n${hidden()}`,
  'a chunk extension with a line feed': () => `${head([CHUNKED])}2;a\n{}\r\n0\r\n\r\n${hidden()}`,
  'spaces around a chunk size': () => `${head([CHUNKED])} 2 \r\n{}\r\n0\r\n\r\n${hidden()}`,
  'another version': () => head([]).replace('HTTP/1.1', 'HTTP/1.2') + hidden(),
  'the preface of HTTP/2': () => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${hidden()}`,
  'a tab in the request line': () => head(['Content-Length: 0']).replace(' /v1', '\t/v1') + hidden(),
};

describe('a request that can be read in two ways', () => {
  for (const [what, write] of Object.entries(AMBIGUOUS)) {
    test(`is refused and ends the connection: ${what}`, async () => {
      for (const address of addresses()) {
        const before = host.host.status().sessions;
        const answers = await answersTo(write(), address);
        assert.ok(answers.length <= 1, answers.join());
        // Inside a body no answer is possible: the connection ends without one.
        assert.match(answers[0] ?? 'ended', /^4\d\d|^ended$/);
        assert.equal(host.host.status().sessions, before);
      }
    });
  }

  test('is nothing like requests that follow each other in order: each has its answer', async () => {
    for (const address of addresses()) {
      const before = host.host.status().sessions;
      const chunks = `${head([CHUNKED], '/v1/sessions')}1;name="value"\r\n{\r\n1\r\n}\r\n0\r\n\r\n`;
      const last = writeHead({ target: '/healthz', host: own, headers: ['Connection: close'] });
      assert.deepEqual(await answersTo(chunks + hidden() + last, address), ['201', '201', '200']);
      assert.equal(host.host.status().sessions, before + 2);
    }
  });
});

describe('a body that was not read', () => {
  const last = (): string => writeHead({ target: '/healthz', host: own, headers: ['Connection: close'] });

  test('is not taken for the next request: refused token', async () => {
    for (const address of addresses()) {
      const before = host.host.status().sessions;
      const refused = { method: 'POST', target: '/v1/call', host: own, token: 'trt_unknown', body: hidden() };
      assert.deepEqual(await answersTo(String(writeRequest(refused)) + last(), address), ['401 token_invalid', '200']);
      assert.equal(host.host.status().sessions, before);
    }
  });

  test('is not taken for the next request: a route without a body, no route, another host', async () => {
    for (const [more, outcome] of [
      [{ target: '/healthz' }, '405 method_not_allowed'],
      [{ target: '/nowhere' }, '404 unknown_route'],
      [{ target: '//v1/call' }, '404 unknown_route'],
      [{ target: '/v1/call', host: 'evil.example' }, '403 host_not_allowed'],
    ] as const) {
      const before = host.host.status().sessions;
      const request = { method: 'POST', host: own, token: TOKENS.operator, body: hidden(), ...more };
      const answers = await answersTo(String(writeRequest(request)) + last(), addressOf(host.url));
      assert.equal(answers[0], outcome);
      assert.ok(answers.length <= 2 && (answers[1] ?? '200') === '200', answers.join());
      assert.equal(host.host.status().sessions, before);
    }
  });

  test('ends the connection when it is too large to be read', async () => {
    for (const address of addresses()) {
      const before = host.host.status().sessions;
      const size = host.host.maxRequestBytes + 1;
      assert.deepEqual(await answersTo(head([`Content-Length: ${size}`]) + hidden(), address), ['413 too_large']);
      assert.equal(host.host.status().sessions, before);
    }
  });

  test('garbage behind a request that is being answered does not pass for its answer', async () => {
    const { session_id } = (await (await host.request('/v1/sessions', { body: {} })).json()) as { session_id: string };
    const body = JSON.stringify({
      type: 'ToolRequest',
      tool: 'file_read',
      args: { path: 'hello.txt' },
      request_id: 'r1',
      session_id,
      timestamp: 1,
    });
    const request = writeRequest({ method: 'POST', target: '/v1/call', host: own, token: TOKENS.operator, body });
    const answers = await answersTo(Buffer.concat([request, Buffer.from('\0garbage\r\n\r\n')]), addressOf(host.url));
    assert.ok(answers.length === 0 || answers[0] === '200', answers.join());
  });
});
