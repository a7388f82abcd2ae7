import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { guardedFetch } from './guarded-fetch.ts';

async function serve(context: TestContext): Promise<string> {
  const server = createServer((_, response) => response.end('hello'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => server.closeAllConnections());
  context.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('the HTTP client of a mounted server', () => {
  test('reaches the origin the operator wrote, and others only when they are allowed', async (context) => {
    const [own, other] = [await serve(context), await serve(context)];
    const narrow = guardedFetch({ origin: own, allowedDomains: [] });
    assert.equal(await (await narrow(`${own}/mcp`)).text(), 'hello');
    await assert.rejects(async () => narrow(`${other}/token`), /not in the allowlist/);
    const wide = guardedFetch({ origin: own, allowedDomains: [new URL(other).host] });
    assert.equal(await (await wide(`${other}/token`)).text(), 'hello');
  });
});
