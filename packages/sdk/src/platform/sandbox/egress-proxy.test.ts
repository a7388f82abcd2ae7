import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect, createServer as createRawServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import type { CommandOutcome } from '../../contracts/commands.ts';
import { createCommandRunner } from '../commands/command-runner.ts';
import type { ResolveHost } from '../network/pinned-agents.ts';
import { type EgressProxy, openEgressProxy } from './egress-proxy.ts';

async function listen(t: TestContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

interface Web {
  readonly port: number;
  readonly requests: { readonly line: string; readonly headers: IncomingMessage['headers']; readonly body: string }[];
}

async function startWeb(t: TestContext): Promise<Web> {
  const requests: Web['requests'] = [];
  const server = createServer(async (incoming, response) => {
    requests.push({
      line: `${incoming.method} ${incoming.url}`,
      headers: incoming.headers,
      body: await text(incoming),
    });
    response.writeHead(201, { 'x-answer': 'yes', connection: 'x-hop, close', 'x-hop': 'no' }).end('the answer');
  });
  const port = await listen(t, server);
  return { port, requests };
}

async function openProxy(
  t: TestContext,
  allowedDomains: readonly string[],
  resolve?: ResolveHost,
): Promise<EgressProxy> {
  const proxy = await openEgressProxy({ allowedDomains, ...(resolve === undefined ? {} : { resolve }) });
  t.after(() => proxy.close());
  return proxy;
}

async function ask(proxy: EgressProxy, url: string, headers: Record<string, string> = {}, body = '') {
  const sent = request({
    socketPath: proxy.socket,
    path: url,
    method: body === '' ? 'GET' : 'POST',
    headers: { host: 'ignored.example', ...headers },
  });
  sent.end(body);
  const answer = await new Promise<IncomingMessage>((resolve, reject) =>
    sent.once('response', resolve).once('error', reject),
  );
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
}

async function tunnel(proxy: EgressProxy, target: string, early = ''): Promise<{ status: string; socket: Socket }> {
  const socket = connect(proxy.socket);
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n${early}`);
  const first = await new Promise<Buffer>((resolve) => socket.once('data', resolve));
  return { status: String(first), socket };
}

describe('the proxy', () => {
  test('4.26 passes requests to a listed host on, without what concerns only one connection', async (t) => {
    const { port, requests } = await startWeb(t);
    const proxy = await openProxy(t, [`localhost:${port}`]);
    const answer = await ask(
      proxy,
      `http://localhost:${port}/a?b=c`,
      { 'x-own': 'kept', connection: 'x-mine', 'x-mine': '1', 'proxy-authorization': 'secret' },
      'body',
    );
    assert.equal(answer.status, 201);
    assert.equal(answer.body, 'the answer');
    assert.equal(answer.headers['x-answer'], 'yes');
    assert.equal(answer.headers['x-hop'], undefined);
    const [seen] = requests;
    assert.equal(seen?.line, 'POST /a?b=c');
    assert.equal(seen?.body, 'body');
    assert.equal(seen?.headers.host, `localhost:${port}`);
    assert.equal(seen?.headers['x-own'], 'kept');
    assert.equal(seen?.headers['x-mine'], undefined);
    assert.equal(seen?.headers['proxy-authorization'], undefined);
  });

  test('4.26 refuses what is not listed, in words, and contacts no host', async (t) => {
    const { port, requests } = await startWeb(t);
    const asked: string[] = [];
    const proxy = await openProxy(t, ['listed.example'], async (host) => {
      asked.push(host);
      return ['127.0.0.1'];
    });
    for (const url of [
      `http://localhost:${port}/`,
      `http://127.0.0.1:${port}/`,
      'http://listed.example.evil.org/',
      'http://listed.example@evil.org/',
      '/relative',
      'ftp://listed.example/',
      'https://listed.example/',
    ]) {
      const { status, body } = await ask(proxy, url);
      assert.equal(status, 403, url);
      assert.match(body, /\n.+\n$/, url);
    }
    assert.deepEqual(asked, []);
    // Listed by name, but the name leads to an address of this machine.
    assert.equal((await ask(proxy, 'http://listed.example/')).status, 403);
    assert.equal((await tunnel(proxy, 'listed.example:443')).status.split(' ')[1], '403');
    assert.deepEqual(requests, []);
  });

  test('4.26 tells an unreachable target from a refused one', async (t) => {
    const proxy = await openProxy(t, ['listed.example', 'localhost:1'], async () => {
      throw new TypeError('no such name');
    });
    assert.equal((await ask(proxy, 'http://listed.example/')).status, 502);
    const other = await openProxy(t, ['localhost:1']);
    assert.equal((await ask(other, 'http://localhost:1/')).status, 502);
    assert.equal((await tunnel(other, 'localhost:1')).status.split(' ')[1], '502');
  });

  test('4.26 opens tunnels to listed hosts only, and carries bytes both ways', async (t) => {
    const port = await listen(
      t,
      createRawServer((socket) => socket.on('data', (data) => socket.end(`echo ${data}`))),
    );
    const proxy = await openProxy(t, [`localhost:${port}`]);
    const { status, socket } = await tunnel(proxy, `localhost:${port}`);
    assert.equal(status, 'HTTP/1.1 200 Connection established\r\n\r\n');
    socket.write('hello');
    assert.equal(await text(socket), 'echo hello');
    const early = await tunnel(proxy, `localhost:${port}`, 'at once');
    assert.match(early.status + (await text(early.socket)), /200 Connection established\r\n\r\necho at once$/);
    for (const target of [
      `127.0.0.1:${port}`,
      'evil.org:443',
      'localhost:22',
      `localhost:${port}@evil.org:443`,
      `localhost:${port}/x`,
      'localhost',
    ]) {
      const refused = await tunnel(proxy, target);
      assert.match(refused.status, /^HTTP\/1\.1 40[03] /, target);
      refused.socket.destroy();
    }
  });

  test('4.26 a tunnel leads to the address that was judged, whatever the name means a moment later', async (t) => {
    const port = await listen(
      t,
      createRawServer((socket) => socket.end('judged')),
    );
    // Only the check can look this name up.
    const name = `pinned.invalid:${port}`;
    const proxy = await openProxy(t, [name, `127.0.0.1:${port}`], async () => ['127.0.0.1']);
    const { status, socket } = await tunnel(proxy, name);
    assert.match(status + (await text(socket)), /200 Connection established\r\n\r\njudged$/);
    const elsewhere = await openProxy(t, [name], async () => ['127.0.0.1']);
    const refused = await tunnel(elsewhere, name);
    assert.match(refused.status, /^HTTP\/1\.1 403 /);
    refused.socket.destroy();
  });

  test('4.26 belongs to its owner alone, and is gone when closed, open tunnels too', async (t) => {
    const port = await listen(
      t,
      createRawServer((socket) => socket.on('error', () => {})),
    );
    const proxy = await openEgressProxy({ allowedDomains: [`localhost:${port}`] });
    assert.equal(statSync(dirname(proxy.socket)).mode & 0o777, 0o700);
    const { socket } = await tunnel(proxy, `localhost:${port}`);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await proxy.close();
    await closed;
    assert.equal(existsSync(dirname(proxy.socket)), false);
  });
});

/** Speaks to the proxy as the variables say, or straight to the target. */
const CLIENT = `
  my ($host, $port) = $ARGV[0] eq "proxy" ? $ENV{http_proxy} =~ m{^http://([^:]+):(\\d+)} : ("127.0.0.1", $ARGV[0]);
  socket(S, PF_INET, SOCK_STREAM, 0);
  connect(S, sockaddr_in($port, inet_aton($host))) or die "unreachable\\n";
  syswrite(S, "GET $ARGV[1] HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n");
  print while <S>;
`;

describe('a sandboxed command', () => {
  function openRunner(t: TestContext, allowedDomains: readonly string[]) {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'egress-')));
    const [workspace, state] = [join(root, 'workspace'), join(root, 'state')];
    mkdirSync(workspace);
    const runner = createCommandRunner({ workspace, state, isolation: 'bubblewrap', allowedDomains });
    t.after(async () => {
      await runner.close();
      rmSync(root, { recursive: true, force: true });
    });
    return async (network: boolean, ...argv: readonly string[]): Promise<CommandOutcome> => {
      const list = { pipelines: [{ operator: null, commands: [{ argv, column: 1 }] }] };
      const command = await runner.start({ list, cwd: '.', env: {}, stdin: null, network, maxOutputBytes: 100_000 });
      return command.done;
    };
  }

  test('4.26 with network reaches listed hosts through the proxy and nothing else [S0-36]', async (t) => {
    const { port, requests } = await startWeb(t);
    const run = openRunner(t, [`localhost:${port}`]);
    const perl = ['perl', '-MSocket', '-e', CLIENT];
    const through = await run(true, ...perl, 'proxy', `http://localhost:${port}/listed`);
    assert.match(through.stdout.text, /^HTTP\/1\.1 201 .*the answer/s);
    assert.equal(through.networkEnforced, true);
    const refused = await run(true, ...perl, 'proxy', 'http://example.org/');
    assert.match(refused.stdout.text, /^HTTP\/1\.1 403 .*allowlist.*network\.allowed_domains/s);
    const straight = await run(true, ...perl, String(port), '/straight');
    assert.match(straight.stderr.text, /unreachable/);
    const without = await run(false, ...perl, '3128', `http://localhost:${port}/without`);
    assert.match(without.stderr.text, /unreachable/);
    assert.deepEqual(
      requests.map(({ line }) => line),
      ['GET /listed'],
    );
  });

  test('with network has the same output, input, exit code and signal as without [S0-36]', async (t) => {
    const run = openRunner(t, []);
    const { code, stdout, stderr } = await run(true, 'sh', '-c', 'echo out; echo err >&2; exit 9');
    assert.deepEqual([code, stdout.text, stderr.text], [9, 'out\n', 'err\n']);
    assert.equal((await run(true, 'sh', '-c', 'kill -SEGV $$')).signal, 'SIGSEGV');
    const { stdout: variables } = await run(true, 'env');
    assert.match(variables.text, /^HTTPS_PROXY=http:\/\/127\.0\.0\.1:\d+$/m);
    assert.doesNotMatch((await run(false, 'env')).stdout.text, /^(?:https?|all|no)_proxy=/im);
  });
});
