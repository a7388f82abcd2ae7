import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { guardedFetch } from './guarded-fetch.ts';

async function serve(context: TestContext, answer: RequestListener = (_, response) => response.end('hello')) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => server.closeAllConnections());
  context.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('the HTTP client of a mounted server', () => {
  test('reaches the origin the operator wrote, and others only when they are allowed', async (context) => {
    const [own, other] = [await serve(context), await serve(context)];
    const narrow = guardedFetch({ origin: own, allowedDomains: [], insecureCredentials: [] });
    assert.equal(await (await narrow(`${own}/mcp`)).text(), 'hello');
    await assert.rejects(async () => narrow(`${other}/token`), /not in the allowlist/);
    const wide = guardedFetch({ origin: own, allowedDomains: [new URL(other).host], insecureCredentials: [] });
    assert.equal(await (await wide(`${other}/token`)).text(), 'hello');
  });

  test('sends credentials over plain http only to hosts that are listed for it', async (context) => {
    let visits = 0;
    const own = await serve(context, (_, response) => {
      visits += 1;
      response.end('hello');
    });
    const init = { headers: { Authorization: 'Bearer x' } };
    const limits = { origin: own, allowedDomains: [] };
    await assert.rejects(async () => guardedFetch({ ...limits, insecureCredentials: [] })(own, init), /plain http/);
    assert.equal(visits, 0);
    const form = { method: 'POST', body: new URLSearchParams({ client_secret: 'x' }) };
    await assert.rejects(async () => guardedFetch({ ...limits, insecureCredentials: [] })(own, form), /plain http/);
    assert.equal(visits, 0);
    const listed = guardedFetch({ ...limits, insecureCredentials: [new URL(own).host] });
    assert.equal(await (await listed(own, form)).text(), 'hello');
    assert.equal(await (await listed(own, init)).text(), 'hello');
    const told = guardedFetch({ ...limits, insecureCredentials: [], allows: (url) => url.origin === own });
    assert.equal(await (await told(own, init)).text(), 'hello');
    assert.equal(await (await guardedFetch({ ...limits, insecureCredentials: [] })(own)).text(), 'hello');
  });

  test('does not follow redirects: the caller decides', async (context) => {
    let visits = 0;
    const other = await serve(context, (_, response) => {
      visits += 1;
      response.end('other');
    });
    const own = await serve(context, (_, response) => response.writeHead(307, { location: other }).end());
    const answer = await guardedFetch({ origin: own, allowedDomains: [], insecureCredentials: [] })(own, {
      method: 'POST',
      body: 'secret',
    });
    assert.deepEqual([answer.status, visits], [307, 0]);
    assert.equal(answer.headers.get('location'), other);
  });

  test('reads 64 MiB of an answer and not more', async (context) => {
    const mebibyte = Buffer.alloc(1024 * 1024);
    const own = await serve(context, async ({ url = '' }, response) => {
      for (let sent = 0; sent < Number(url.slice(1)) && !response.destroyed; sent++) {
        if (!response.write(mebibyte)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
      }
      response.end();
    });
    const ask = guardedFetch({ origin: own, allowedDomains: [], insecureCredentials: [] });
    assert.equal((await (await ask(`${own}/64`)).arrayBuffer()).byteLength, 64 * 1024 * 1024);
    const tooLong = await ask(`${own}/65`);
    await assert.rejects(tooLong.arrayBuffer(), /larger than/);
  });
});
