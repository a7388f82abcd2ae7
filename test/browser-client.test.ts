/**
 * examples/browser-client.html against a real host. No browser is installed here, so what is shown is less than a browser
 * would: that the page, its import map and every module behind it load without Node, and that a host lets its origin in.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { createScratch } from '../packages/host/test/run-cli.ts';
import { startServe } from '../packages/host/test/start-serve.ts';
import { ROOT } from './pages/read-page.ts';

const BUILT = /^\/node_modules\/@tool-runtime\/protocol\/dist\/(.+)\.js$/;

/** The files of the checkout. What the build would make of a source is made here, so that no test depends on a build. */
async function servePages(): Promise<Server> {
  const server = createServer(({ url: path = '/' }, response) => {
    const source = BUILT.exec(path)?.[1];
    const file = source === undefined ? join(ROOT, path) : join(ROOT, `packages/protocol/src/${source}.ts`);
    if (!existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    const written = readFileSync(file, 'utf8');
    const body = source === undefined ? written : built(written);
    response.writeHead(200, { 'content-type': path.endsWith('.html') ? 'text/html' : 'text/javascript' }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return server;
}

function built(source: string): string {
  return stripTypeScriptTypes(source).replaceAll(/(from '\.{1,2}\/[^']+)\.ts'/g, "$1.js'");
}

interface PageRun {
  readonly code: number | null;
  readonly stderr: string;
  readonly modules: number;
  readonly answers: readonly string[];
}

async function runPage(...words: readonly string[]): Promise<PageRun> {
  const options = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  const child = spawn(process.execPath, [...options, join(import.meta.dirname, 'browser/load-page.ts'), ...words]);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const said =
    stdout === '' ? { modules: 0, answers: [] } : (JSON.parse(stdout) as Pick<PageRun, 'modules' | 'answers'>);
  return { code: await ended, stderr, ...said };
}

describe('examples/browser-client.html', () => {
  test('names the entry that the protocol package declares', () => {
    const page = readFileSync(join(ROOT, 'examples/browser-client.html'), 'utf8');
    const manifest = JSON.parse(readFileSync(join(ROOT, 'packages/protocol/package.json'), 'utf8')) as {
      exports: { './client': { default: string } };
    };
    assert.ok(page.includes(`/node_modules/@tool-runtime/protocol${manifest.exports['./client'].default.slice(1)}"`));
  });

  test('loads without Node and reads a file through a host that knows its origin; another origin is kept out (deep)', async () => {
    using scratch = createScratch();
    scratch.write('README.md', 'hello, page\n');
    const pages = await servePages();
    try {
      const origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
      await using host = await startServe(scratch, '--allow-origin', origin);
      const page = '/examples/browser-client.html';
      const run = await runPage(`${origin}${page}`, host.url, host.token, 'README.md', '../secret.txt');
      assert.deepEqual([run.code, run.stderr], [0, '']);
      assert.ok(run.modules > 50, 'the client and zod were loaded file by file');
      assert.deepEqual(run.answers, [
        'hello, page\n',
        'E_POLICY: Path is not inside the workspace (path leaves the workspace root): ../secret.txt',
      ]);

      const foreign = await runPage(
        `${origin.replace('127.0.0.1', 'localhost')}${page}`,
        host.url,
        host.token,
        'README.md',
      );
      assert.match(foreign.answers[0] ?? '', /^E_HTTP: Host gave no answer: /);
    } finally {
      pages.closeAllConnections();
      pages.close();
    }
  });
});
