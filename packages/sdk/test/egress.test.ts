/** The network gate against names, redirects and servers that try to lead it elsewhere. Everything stays on loopback. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { get as plainGet } from 'node:http';
import { describe, type TestContext, test } from 'node:test';
import type { ToolError } from '@tool-runtime/protocol';
import { createPinnedAgents } from '../src/platform/network/pinned-agents.ts';
import { get, openClient, startRaw, startWeb, textOf, type WebServer } from './loopback-server.ts';
import { selfSigned } from './self-signed.ts';

const loopback = async () => ['127.0.0.1'];

const echo = (t: TestContext) => startWeb(t, (_request, response) => response.end('reached'));

/** Answers every request by a redirect to the URL in its query. */
const redirector = (t: TestContext, status = 302) =>
  startWeb(t, (request, response) => {
    const to = new URL(request.url ?? '', 'http://x').searchParams.get('to');
    if (to === null) response.end('reached');
    else response.writeHead(status, { Location: to }).end();
  });

const via = (base: string, ...targets: string[]): string =>
  [...targets].reverse().reduce((inner, target) => `${target}/?to=${encodeURIComponent(inner)}`, base);

describe('what is not allowed never leaves the process [S0-11 S0-61]', () => {
  test('a host that is not listed is neither looked up nor connected [S0-11]', async (t) => {
    const server = await echo(t);
    const asked: string[] = [];
    const resolve = async (host: string) => {
      asked.push(host);
      return ['127.0.0.1'];
    };
    const client = openClient(t, { allowedDomains: [`a.test:${server.port}`, `127.0.0.1:${server.port}`], resolve });
    for (const host of [
      'b.test',
      'a.test.evil.test',
      'localhost',
      '127.0.0.2',
      '[::ffff:127.0.0.1]',
      '127.0.0.1@b.test',
    ]) {
      await assert.rejects(get(client, `http://${host}:${server.port}/`), { code: 'E_POLICY' }, host);
    }
    assert.deepEqual([asked, server.connections.length], [[], 0]);
    assert.equal(textOf(await get(client, `http://a.test:${server.port}/`)), 'reached');
    assert.deepEqual([asked, server.connections.length], [['a.test'], 1]);
  });

  test('line ends in URL, method or headers reach no host [S0-39]', async (t) => {
    const server = await echo(t);
    const client = openClient(t, { allowedDomains: [`127.0.0.1:${server.port}`] });
    const url = `http://127.0.0.1:${server.port}/`;
    await assert.rejects(get(client, `${url}a\r\nX: y`), { code: 'E_POLICY' });
    await assert.rejects(get(client, url, { method: 'GET / HTTP/1.1\r\nX:' }), { code: 'E_VALIDATION_FAIL' });
    await assert.rejects(get(client, url, { headers: { a: 'b\r\nX: y' } }), { code: 'E_VALIDATION_FAIL' });
    await assert.rejects(get(client, url, { headers: { Host: 'evil.test' } }), { code: 'E_POLICY' });
    assert.equal(server.connections.length, 0);
    assert.equal(textOf(await get(client, `${url}a%0d%0aX:%20y`, { headers: { a: 'b' } })), 'reached');
  });

  test('a listed name that leads to a private address is refused and says so [S0-40]', async (t) => {
    const server = await echo(t);
    const client = openClient(t, { allowedDomains: [`a.test:${server.port}`], resolve: loopback });
    await assert.rejects(get(client, `http://a.test:${server.port}/`), {
      code: 'E_POLICY',
      message: 'Host resolves to no public address, but to 127.0.0.1 (loopback): a.test',
    });
    assert.equal(server.connections.length, 0);
  });

  test('localhost may be reached when it is listed, with the real resolver [S0-40]', async (t) => {
    const server = await echo(t);
    const client = openClient(t, { allowedDomains: [`localhost:${server.port}`] });
    assert.equal(textOf(await get(client, `http://localhost:${server.port}/`)), 'reached');
  });

  test('proxies of the environment are not used [S0-40]', async (t) => {
    const [proxy, server] = [await echo(t), await startWeb(t, (_request, response) => response.end('direct'))];
    const program = `
      import { createHttpClient } from ${JSON.stringify(new URL('../src/platform/network/http-client.ts', import.meta.url).href)};
      const client = createHttpClient({ allowedDomains: ['127.0.0.1:${server.port}'] });
      const answer = await client.send({
        method: 'GET', url: 'http://127.0.0.1:${server.port}/', headers: {}, body: null, timeoutMs: 60_000, maxBytes: 99,
      });
      console.log(Buffer.from(answer.body).toString());
      client.close();`;
    const address = `http://127.0.0.1:${proxy.port}`;
    const child = spawn(process.execPath, ['-C', 'tool-runtime-source', '--input-type=module', '-e', program], {
      env: { ...process.env, NODE_USE_ENV_PROXY: '1', HTTP_PROXY: address, http_proxy: address, ALL_PROXY: address },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    for await (const chunk of child.stdout) printed += chunk;
    assert.deepEqual([printed, proxy.connections.length], ['direct\n', 0]);
  });
});

describe('a name that changes its mind [S0-40]', () => {
  /** Two servers on one port; the name leads to the listed one first and to the other ever after. */
  async function rebinding(t: TestContext) {
    const good = await startWeb(t, (_request, response) => response.end('good'));
    const evil = await startWeb(t, (_request, response) => response.end('evil'), {
      host: '127.0.0.2',
      port: good.port,
    });
    let lookups = 0;
    const resolve = async () => {
      lookups += 1;
      return [lookups === 1 ? '127.0.0.1' : '127.0.0.2'];
    };
    return { good, evil, resolve, lookups: () => lookups, url: `http://a.test:${good.port}/` };
  }

  test('leads a client that looks up, judges and then connects by name to the wrong server [S0-40]', async (t) => {
    const { good, evil, resolve } = await rebinding(t);
    assert.deepEqual(await resolve(), ['127.0.0.1']);
    const lookup = (_host: string, _options: object, callback: (error: null, list: object[]) => void) => {
      resolve().then(([address]) => callback(null, [{ address, family: 4 }]));
    };
    await new Promise((done) =>
      plainGet({ host: 'a.test', port: good.port, lookup: lookup as never, agent: false }, done),
    );
    assert.equal(evil.connections.length, 1);
  });

  test('cannot move a connection: there is one lookup, and its address is the one dialled [S0-40]', async (t) => {
    const { good, evil, resolve, lookups, url } = await rebinding(t);
    const client = openClient(t, { allowedDomains: [`a.test:${good.port}`, `127.0.0.1:${good.port}`], resolve });
    assert.equal(textOf(await get(client, url)), 'good');
    assert.equal(lookups(), 1);
    // The kept connection to the first server does not excuse the new answer.
    await assert.rejects(get(client, url), { code: 'E_POLICY' });
    assert.equal(evil.connections.length, 0);
  });

  test('a peer that is not the pinned address hears nothing [S0-40]', async (t) => {
    const heard: string[] = [];
    const server = await startRaw(t, (_socket, text) => heard.push(text));
    const agents = createPinnedAgents();
    const pin = { origin: `http://127.0.0.1:${server.port}`, addresses: ['127.0.0.2'] };
    const failed = await new Promise<{ code?: string; details?: { reason: string } }>((resolve) => {
      const options = { ...agents.optionsFor(pin, 'once'), host: '127.0.0.1', port: server.port };
      plainGet(options as object, () => resolve({})).on('error', resolve);
    });
    assert.deepEqual([failed.code, failed.details?.reason, heard], ['E_POLICY', 'peer_changed', []]);
  });
});

describe('redirects [S0-40]', () => {
  interface Scene {
    readonly servers: WebServer[];
    readonly at: (nth: number, name?: string) => string;
  }

  async function scene(t: TestContext, names: string[]): Promise<Scene & { client: ReturnType<typeof openClient> }> {
    const servers = await Promise.all(names.map(() => redirector(t)));
    const at = (nth: number, name = names[nth]) => `http://${name}:${servers[nth]?.port}`;
    const listed = names.flatMap((name, nth) => (name === 'evil.test' ? [] : [`${name}:${servers[nth]?.port}`]));
    const literals = servers.map(({ port }) => `127.0.0.1:${port}`);
    const allowedDomains = [...listed, ...literals];
    // What is sent where is the question here: everything is plain http on loopback.
    const client = openClient(t, { allowedDomains, insecureCredentials: listed, resolve: loopback });
    return { servers, at, client };
  }

  test('section 6.5 S0-40 allowed, allowed, not allowed is E_POLICY, and the last one sees no connection', async (t) => {
    const { servers, at, client } = await scene(t, ['a.test', 'b.test', 'evil.test']);
    await assert.rejects(
      get(client, via(`${at(2)}/`, at(0), at(1))),
      (error: { code: string; details: { host: string } }) => {
        assert.deepEqual([error.code, error.details.host], ['E_POLICY', `evil.test:${servers[2]?.port}`]);
        return true;
      },
    );
    assert.deepEqual(
      servers.map((server) => server.requests.length),
      [1, 1, 0],
    );
    assert.equal(servers[2]?.connections.length, 0);
    const fine = await get(client, via(`${at(1)}/end`, at(0), at(1)));
    assert.deepEqual([textOf(fine), fine.url, fine.redirects.length], ['reached', `${at(1)}/end`, 2]);
  });

  test('section 6.5 S0-40 three redirects are followed, the fourth is refused', async (t) => {
    const { servers, at, client } = await scene(t, ['a.test']);
    const home = at(0);
    assert.equal((await get(client, via(`${home}/end`, home, home, home))).redirects.length, 3);
    servers[0]?.requests.splice(0);
    await assert.rejects(get(client, via(`${home}/end`, home, home, home, home)), { code: 'E_POLICY' });
    assert.equal(servers[0]?.requests.length, 4);
  });

  test('a loop ends [S0-40]', async (t) => {
    const server = await startWeb(t, (_request, response) => response.writeHead(301, { Location: '/' }).end());
    const client = openClient(t, { allowedDomains: [`127.0.0.1:${server.port}`] });
    await assert.rejects(get(client, `http://127.0.0.1:${server.port}/`), { code: 'E_POLICY' });
    assert.equal(server.requests.length, 4);
  });

  test('a redirect without a place to go, or with another status, is the answer [S0-40]', async (t) => {
    const server = await startWeb(t, (request, response) => {
      if (request.url === '/bare') response.writeHead(302).end('no location');
      else response.writeHead(300, { Location: '/elsewhere' }).end('choose');
    });
    const client = openClient(t, { allowedDomains: [`127.0.0.1:${server.port}`] });
    assert.equal((await get(client, `http://127.0.0.1:${server.port}/bare`)).status, 302);
    assert.equal((await get(client, `http://127.0.0.1:${server.port}/`)).status, 300);
  });

  test('credentials reach the first host and not the one it redirects to [S0-40]', async (t) => {
    const { servers, at, client } = await scene(t, ['a.test', 'b.test']);
    const headers = { Authorization: 'Bearer x', Cookie: 'a=b', 'X-Api-Key': 'k', Accept: 'text/plain' };
    await get(client, via(`${at(1)}/`, at(0)), { headers });
    const names = servers.map(({ requests }) => Object.keys(requests[0]?.headers ?? {}));
    const secret = ['authorization', 'cookie', 'x-api-key'];
    assert.deepEqual(
      secret.map((name) => names.map((seen) => seen.includes(name))),
      [
        [true, false],
        [true, false],
        [true, false],
      ],
    );
    assert.equal(servers[1]?.requests[0]?.headers.accept, 'text/plain');
    // The same host and port keeps them.
    await get(client, via(`${at(0)}/end`, at(0)), { headers });
    assert.equal(servers[0]?.requests.at(-1)?.headers.authorization, 'Bearer x');
  });

  test('credentials are sent over plain http only where the operator listed the host for it [S0-40]', async (t) => {
    const [server, listed] = [await echo(t), await echo(t)];
    const allowedDomains = [`127.0.0.1:${server.port}`, `127.0.0.1:${listed.port}`];
    const insecureCredentials = [`127.0.0.1:${listed.port}`, 'example.org'];
    const client = openClient(t, { allowedDomains, insecureCredentials });
    const secrets: [string, Record<string, string>][] = [
      ['', { Authorization: 'Bearer x' }],
      ['', { COOKIE: 'a=b' }],
      ['', { 'X-Api-Key': 'k' }],
      ['', { 'private-token': 'k' }],
      ['?page=2&access_token=abc', {}],
      ['?api_key=abc', {}],
    ];
    for (const [query, headers] of secrets) {
      await assert.rejects(get(client, `http://127.0.0.1:${server.port}/${query}`, { headers }), (error: ToolError) => {
        assert.deepEqual([error.code, error.details['reason']], ['E_POLICY', 'insecure_credentials']);
        assert.match(String(error.details['next']), /network\.insecure_credentials/);
        return !JSON.stringify([error.message, error.details]).includes('abc');
      });
      const url = `http://127.0.0.1:${listed.port}/${query}`;
      assert.equal(textOf(await get(client, url, { headers })), 'reached', JSON.stringify([query, headers]));
    }
    assert.equal(server.connections.length, 0);
    const plain = { Accept: 'text/plain', 'Idempotency-Key': 'k', 'User-Agent': 'author' };
    assert.equal(textOf(await get(client, `http://127.0.0.1:${server.port}/?page=2`, { headers: plain })), 'reached');
  });

  test('a POST that is redirected by 302 arrives as GET without body, by 307 as it was [S0-40]', async (t) => {
    const seen: string[] = [];
    const server = await startWeb(t, async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      seen.push(`${request.method} ${request.url} ${body}`);
      const status = Number((request.url ?? '').slice(1));
      if (status > 0) response.writeHead(status, { Location: '/end' });
      response.end();
    });
    const client = openClient(t, { allowedDomains: [`127.0.0.1:${server.port}`] });
    for (const status of [302, 307]) {
      await get(client, `http://127.0.0.1:${server.port}/${status}`, { method: 'POST', body: Buffer.from('data') });
    }
    assert.deepEqual(seen, ['POST /302 data', 'GET /end ', 'POST /307 data', 'POST /end data']);
  });

  test('https does not redirect to http [S0-40]', async (t) => {
    const tls = selfSigned({ dns: ['a.test'], ipv4: [] });
    const plain = await echo(t);
    const server = await startWeb(
      t,
      (request, response) => {
        if (request.url === '/end') response.end('reached');
        else
          response
            .writeHead(302, { Location: request.url === '/down' ? `http://a.test:${plain.port}/` : '/end' })
            .end();
      },
      { tls },
    );
    const allowedDomains = [server, plain].flatMap(({ port }) => [`a.test:${port}`, `127.0.0.1:${port}`]);
    const client = openClient(t, { allowedDomains, resolve: loopback, ca: tls.cert });
    await assert.rejects(get(client, `https://a.test:${server.port}/down`), { code: 'E_POLICY' });
    assert.equal(plain.connections.length, 0);
    assert.equal(textOf(await get(client, `https://a.test:${server.port}/same`)), 'reached');
  });

  test('a redirect to a listed name that leads to a private address is refused [S0-40]', async (t) => {
    const { servers, at } = await scene(t, ['a.test', 'b.test']);
    const [first, second] = servers.map(({ port }) => port);
    const allowedDomains = [`a.test:${first}`, `b.test:${second}`, `127.0.0.1:${first}`];
    const client = openClient(t, { allowedDomains, resolve: loopback });
    await assert.rejects(get(client, via(`${at(1)}/`, at(0))), { code: 'E_POLICY' });
    assert.equal(servers[1]?.connections.length, 0);
  });

  test('follows a Location in UTF-8, and refuses one with blanks or backslashes [S0-40]', async (t) => {
    const places = {
      '/utf8': '/caf\u00c3\u00a9',
      '/blank': '/a b',
      '/slash': '/\\evil.test/',
      '/tab': 'http://127.0.0.1\t/',
    };
    const server = await startRaw(t, (socket, text) => {
      const place = places[(text.split(' ')[1] ?? '') as keyof typeof places];
      const head = place === undefined ? '200 OK' : `302 Found\r\nLocation: ${place}`;
      socket.end(`HTTP/1.1 ${head}\r\nContent-Length: 0\r\n\r\n`, 'latin1');
    });
    const client = openClient(t, { allowedDomains: [`127.0.0.1:${server.port}`] });
    const home = `http://127.0.0.1:${server.port}`;
    assert.equal((await get(client, `${home}/utf8`)).url, `${home}/caf%C3%A9`);
    for (const path of ['/blank', '/slash', '/tab'])
      await assert.rejects(get(client, home + path), { code: 'E_POLICY' }, path);
  });
});

describe('kept connections [S0-40]', () => {
  test('a second GET uses the connection of the first [S0-40]', async (t) => {
    const server = await echo(t);
    const client = openClient(t, { allowedDomains: [`127.0.0.1:${server.port}`] });
    for (let nth = 0; nth < 5; nth++) await get(client, `http://127.0.0.1:${server.port}/`);
    assert.deepEqual([server.requests.length, server.connections.length], [5, 1]);
  });

  test('another name at the same address, or a session of its own, never shares it [S0-40]', async (t) => {
    const server = await echo(t);
    const { port } = server;
    const allowedDomains = [`a.test:${port}`, `b.test:${port}`, `127.0.0.1:${port}`];
    const client = openClient(t, { allowedDomains, resolve: loopback });
    for (const host of ['a.test', 'b.test', '127.0.0.1', 'a.test']) await get(client, `http://${host}:${port}/`);
    assert.equal(server.connections.length, 3);
    await get(openClient(t, { allowedDomains, resolve: loopback }), `http://a.test:${port}/`);
    assert.equal(server.connections.length, 4);
  });

  test('a name that moves between allowed addresses is followed: the connection to the old one is left alone [S0-40]', async (t) => {
    const one = await startWeb(t, (_request, response) => response.end('one'));
    const two = await startWeb(t, (_request, response) => response.end('two'), { host: '127.0.0.2', port: one.port });
    const addresses = ['127.0.0.1', '127.0.0.2'];
    const client = openClient(t, {
      allowedDomains: ['a.test', ...addresses].map((host) => `${host}:${one.port}`),
      resolve: async () => addresses.splice(0, 1),
    });
    assert.equal(textOf(await get(client, `http://a.test:${one.port}/`)), 'one');
    assert.equal(textOf(await get(client, `http://a.test:${two.port}/`)), 'two');
  });

  test('what may have an effect gets a connection of its own [S0-40]', async (t) => {
    const server = await echo(t);
    const client = openClient(t, { allowedDomains: [`127.0.0.1:${server.port}`] });
    for (const method of ['GET', 'POST', 'POST', 'DELETE'])
      await get(client, `http://127.0.0.1:${server.port}/`, { method });
    assert.equal(server.connections.length, 4);
  });

  test('a GET survives a kept connection that the server dropped at that moment [S0-41]', async (t) => {
    const answered = new Set<number>();
    const server = await startRaw(t, (socket, _text, nth) => {
      if (answered.has(nth)) return void socket.resetAndDestroy();
      answered.add(nth);
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok');
    });
    const client = openClient(t, { allowedDomains: [`127.0.0.1:${server.port}`] });
    for (let nth = 0; nth < 3; nth++) assert.equal(textOf(await get(client, `http://127.0.0.1:${server.port}/`)), 'ok');
    assert.ok(server.connections.length >= 2);
  });

  test('an unsolicited answer is not taken for the answer to the next request [S0-40]', async (t) => {
    const answer = (text: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
    const server = await startRaw(t, (socket, text) => {
      const path = text.split(' ')[1] ?? '';
      socket.write(answer(path));
      if (path === '/first') setTimeout(() => socket.write(answer('planted')), 20);
    });
    const client = openClient(t, { allowedDomains: [`127.0.0.1:${server.port}`] });
    assert.equal(textOf(await get(client, `http://127.0.0.1:${server.port}/first`)), '/first');
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(textOf(await get(client, `http://127.0.0.1:${server.port}/second`)), '/second');
  });
});
