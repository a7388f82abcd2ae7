import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createPages } from './pages.ts';

const folder = mkdtempSync(join(tmpdir(), 'pages-'));
mkdirSync(join(folder, 'console'));
writeFileSync(join(folder, 'secret.js'), 'secret');
writeFileSync(join(folder, 'console/index.html'), '<!doctype html>');
writeFileSync(join(folder, 'console/main-AB12.js'), 'export {};'.repeat(100));

const pages = createPages(join(folder, 'console'));
const server = createServer((incoming, outgoing) => {
  const name = decodeURIComponent((incoming.url ?? '/').slice(1));
  try {
    pages.send(incoming, outgoing, ...(name === '' ? [] : [name]));
  } catch (thrown) {
    outgoing.writeHead(404).end(String(thrown));
  }
});
before(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)));
after(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly length: number;
}

function get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    send({ port, path, headers }, async (incoming) => {
      const length = Buffer.concat(await incoming.toArray()).length;
      resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, length });
    })
      .on('error', reject)
      .end();
  });
}

describe('createPages', () => {
  test('the page is asked for anew, under a policy without inline code or foreign addresses', async () => {
    const { status, headers } = await get('/');
    assert.equal(status, 200);
    assert.equal(headers['cache-control'], 'no-cache');
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'/);
    assert.doesNotMatch(policy, /unsafe|http|\*|data:/);
    assert.equal(headers['x-content-type-options'], 'nosniff');
  });

  test('files with a digest in their name are kept by browsers, and are sent compressed', async () => {
    const plain = await get('/main-AB12.js');
    const zipped = await get('/main-AB12.js', { 'accept-encoding': 'br, gzip' });
    assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
    assert.equal(plain.length, 1000);
    assert.equal(zipped.headers['content-encoding'], 'gzip');
    assert.ok(zipped.length < 100);
  });

  test('no name leads out of the folder', async () => {
    for (const name of ['..%2fsecret.js', '%2e%2e%2fsecret.js', '..%5csecret.js', 'none.js', 'THIRD-PARTY-LICENSES']) {
      assert.equal((await get(`/${name}`)).status, 404, name);
    }
  });
});
