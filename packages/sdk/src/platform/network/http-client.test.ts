import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { get, openClient, startRaw, startWeb, textOf } from '../../../test/loopback-server.ts';
import { selfSigned } from '../../../test/self-signed.ts';

const loopback = async () => ['127.0.0.1'];

describe('createHttpClient [S0-39]', () => {
  test('answers status, lower-case headers, body and where it came from [S0-39]', async (t) => {
    const server = await startWeb(t, (_request, response) => {
      response.writeHead(200, { 'X-Thing': ['a', 'b'], 'Set-Cookie': ['c=1', 'd=2'] }).end('hello');
    });
    const client = openClient(t, { allowedDomains: [`127.0.0.1:${server.port}`] });
    const answer = await get(client, `http://127.0.0.1:${server.port}/path?q=1#part`);
    assert.deepEqual(
      [answer.status, textOf(answer), answer.truncated, answer.url, answer.redirects],
      [200, 'hello', false, `http://127.0.0.1:${server.port}/path?q=1`, []],
    );
    assert.deepEqual([answer.headers['x-thing'], answer.headers['set-cookie']], ['a, b', 'c=1, d=2']);
    assert.equal(server.requests[0]?.url, '/path?q=1');
  });

  test('sends method, headers and body as given, with a Host of the original name [S0-39]', async (t) => {
    const bodies: string[] = [];
    const server = await startWeb(t, (request, response) => {
      request.on('data', (chunk) => bodies.push(String(chunk))).on('end', () => response.end());
    });
    const client = openClient(t, {
      allowedDomains: [`a.test:${server.port}`, `127.0.0.1:${server.port}`],
      resolve: loopback,
    });
    await get(client, `http://A.test.:${server.port}/`, {
      method: 'put',
      headers: { 'X-Thing': 'yes', Accept: 'text/plain' },
      body: Buffer.from('payload'),
    });
    const [request] = server.requests;
    assert.deepEqual([request?.method, bodies.join('')], ['PUT', 'payload']);
    assert.deepEqual(
      { ...request?.headers, connection: undefined },
      {
        host: `a.test:${server.port}`,
        'user-agent': 'tool-runtime',
        accept: 'text/plain',
        'accept-encoding': 'identity',
        'x-thing': 'yes',
        'content-length': '7',
        connection: undefined,
      },
    );
  });

  for (const status of [204, 304, 400, 404, 418, 500, 503]) {
    test(`status ${status} is an answer, not an error [S0-41]`, async (t) => {
      const server = await startWeb(t, (_request, response) =>
        response.writeHead(status, { 'Content-Encoding': 'gzip' }).end(),
      );
      const client = openClient(t, { allowedDomains: [`127.0.0.1:${server.port}`] });
      const answer = await get(client, `http://127.0.0.1:${server.port}/`);
      assert.deepEqual([answer.status, answer.body.byteLength, answer.truncated], [status, 0, false]);
    });
  }

  test('HEAD has no body, whatever length and compression it names [S0-39]', async (t) => {
    const server = await startWeb(t, (_request, response) => {
      response.writeHead(200, { 'Content-Length': '5000', 'Content-Encoding': 'gzip' }).end();
    });
    const client = openClient(t, { allowedDomains: [`127.0.0.1:${server.port}`] });
    const answer = await get(client, `http://127.0.0.1:${server.port}/`, { method: 'HEAD' });
    assert.deepEqual([answer.status, answer.body.byteLength, answer.headers['content-length']], [200, 0, '5000']);
  });

  test('reads chunked bodies and bodies that end with the connection, past informational answers [S0-39]', async (t) => {
    const early = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n';
    const answers = [
      `${early}HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\nX-Trailer: t\r\n\r\n`,
      `${early}HTTP/1.0 200 OK\r\n\r\nhello world`,
    ];
    for (const answer of answers) {
      const server = await startRaw(t, (socket) => socket.end(answer));
      const client = openClient(t, { allowedDomains: [`127.0.0.1:${server.port}`] });
      const { status, ...rest } = await get(client, `http://127.0.0.1:${server.port}/`);
      assert.deepEqual([status, textOf({ status, ...rest })], [200, 'hello world']);
    }
  });

  test('decodes what a server compressed although identity was asked for [S0-39]', async (t) => {
    const forms = { gzip: gzipSync, 'x-gzip': gzipSync, GZIP: gzipSync, deflate: deflateSync, br: brotliCompressSync };
    const server = await startWeb(t, (request, response) => {
      const coding = (request.url ?? '').slice(1) as keyof typeof forms;
      response.writeHead(200, { 'Content-Encoding': coding }).end(forms[coding]('plain text'));
    });
    const client = openClient(t, { allowedDomains: [`127.0.0.1:${server.port}`] });
    for (const coding of Object.keys(forms)) {
      const answer = await get(client, `http://127.0.0.1:${server.port}/${coding}`);
      assert.deepEqual(
        [textOf(answer), answer.headers['content-encoding'], answer.headers['content-length']],
        ['plain text', undefined, undefined],
        coding,
      );
    }
  });

  test('gives a compression it does not know, or several, as they are [S0-39]', async (t) => {
    const server = await startWeb(t, (request, response) => {
      response.writeHead(200, { 'Content-Encoding': decodeURIComponent((request.url ?? '').slice(1)) }).end('bytes');
    });
    const client = openClient(t, { allowedDomains: [`127.0.0.1:${server.port}`] });
    for (const coding of ['rot13', 'gzip, gzip', 'identity']) {
      const answer = await get(client, `http://127.0.0.1:${server.port}/${encodeURIComponent(coding)}`);
      assert.deepEqual([textOf(answer), answer.headers['content-encoding']], ['bytes', coding]);
    }
  });

  test('an empty body under a compression is empty, a broken one is a failure [S0-39]', async (t) => {
    const server = await startWeb(t, (request, response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip', 'Transfer-Encoding': 'chunked' });
      response.end(request.url === '/empty' ? '' : gzipSync('text').subarray(0, 15));
    });
    const client = openClient(t, { allowedDomains: [`127.0.0.1:${server.port}`] });
    assert.equal((await get(client, `http://127.0.0.1:${server.port}/empty`)).body.byteLength, 0);
    await assert.rejects(
      get(client, `http://127.0.0.1:${server.port}/broken`),
      (error: { code: string; details: object }) => {
        assert.deepEqual(
          [error.code, error.details],
          ['E_HTTP', { reason: 'protocol', host: '127.0.0.1', code: 'Z_BUF_ERROR' }],
        );
        return true;
      },
    );
  });

  test('cuts the body at max_bytes and says so, and not when it fits exactly [S0-39]', async (t) => {
    const server = await startWeb(t, (_request, response) => response.end('0123456789'));
    const client = openClient(t, { allowedDomains: [`127.0.0.1:${server.port}`] });
    for (const [maxBytes, text, truncated] of [
      [10, '0123456789', false],
      [9, '012345678', true],
      [0, '', true],
    ] as const) {
      const answer = await get(client, `http://127.0.0.1:${server.port}/`, { maxBytes });
      assert.deepEqual([textOf(answer), answer.truncated], [text, truncated]);
    }
  });
});

describe('failures of the exchange [S0-41]', () => {
  const reasonOf = (failing: Promise<unknown>): Promise<string> =>
    failing.then(
      () => 'no failure',
      (error: { code: string; details: { reason: string } }) => `${error.code} ${error.details.reason}`,
    );

  test('a closed port is E_HTTP refused [S0-41]', async (t) => {
    const client = openClient(t, { allowedDomains: ['127.0.0.1:1'] });
    assert.equal(await reasonOf(get(client, 'http://127.0.0.1:1/')), 'E_HTTP refused');
  });

  test('a name that does not exist, or has no address, is E_HTTP dns [S0-41]', async (t) => {
    const unknown = () => Promise.reject(Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }));
    for (const resolve of [unknown, async () => []]) {
      const client = openClient(t, { allowedDomains: ['a.test'], resolve });
      assert.equal(await reasonOf(get(client, 'http://a.test/')), 'E_HTTP dns');
    }
  });

  test('a dead first address does not matter while another one answers [S0-41]', async (t) => {
    const server = await startWeb(t, (_request, response) => response.end('ok'));
    const allowedDomains = [`a.test:${server.port}`, `127.0.0.1:${server.port}`, `127.0.0.9:${server.port}`];
    const client = openClient(t, { allowedDomains, resolve: async () => ['127.0.0.9', '127.0.0.1'] });
    assert.equal(textOf(await get(client, `http://a.test:${server.port}/`)), 'ok');
    const dead = openClient(t, { allowedDomains, resolve: async () => ['127.0.0.9', '127.0.0.9'] });
    assert.equal(await reasonOf(get(dead, `http://a.test:${server.port}/`)), 'E_HTTP refused');
  });

  test('TLS holds for the name that was asked for, and for nothing else [S0-41]', async (t) => {
    const tls = selfSigned({ dns: ['a.test'], ipv4: ['127.0.0.1'] });
    const names: (string | false | null)[] = [];
    const server = await startWeb(
      t,
      (request, response) => {
        names.push((request.socket as unknown as { servername: string | false }).servername);
        response.end('sealed');
      },
      { tls },
    );
    const { port } = server;
    const allowedDomains = [`a.test:${port}`, `b.test:${port}`, `127.0.0.1:${port}`];
    const trusting = openClient(t, { allowedDomains, resolve: loopback, ca: tls.cert });
    assert.equal(textOf(await get(trusting, `https://a.test:${port}/`)), 'sealed');
    assert.equal(textOf(await get(trusting, `https://127.0.0.1:${port}/`)), 'sealed');
    assert.deepEqual(names, ['a.test', false]);
    assert.equal(await reasonOf(get(trusting, `https://b.test:${port}/`)), 'E_HTTP tls');
    const ordinary = openClient(t, { allowedDomains, resolve: loopback });
    assert.equal(await reasonOf(get(ordinary, `https://a.test:${port}/`)), 'E_HTTP tls');
    assert.equal(await reasonOf(get(trusting, `http://a.test:${port}/`)), 'E_HTTP reset');
  });

  test('the environment cannot switch the certificate check off [S0-41]', async (t) => {
    const tls = selfSigned({ dns: ['a.test'], ipv4: [] });
    const server = await startWeb(t, (_request, response) => response.end(), { tls });
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    t.after(() => delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']);
    const allowedDomains = [`a.test:${server.port}`, `127.0.0.1:${server.port}`];
    const client = openClient(t, { allowedDomains, resolve: loopback });
    assert.equal(await reasonOf(get(client, `https://a.test:${server.port}/`)), 'E_HTTP tls');
    assert.equal(server.requests.length, 0);
  });
});
