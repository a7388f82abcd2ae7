import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { createScratch, FROM_SOURCE } from '../run-cli.ts';
import { eventually, within } from '../wire/within.ts';
import { COMPILE_CACHE } from './compile-cache.ts';

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly result?: { readonly tools?: readonly { readonly name: string }[]; readonly isError?: boolean };
}

test('an edit of the registry under a running server is announced, holds for the next call, and a broken one changes nothing', async (t) => {
  using scratch = createScratch();
  scratch.write('hello.txt', 'hello\n');
  const registry = join(scratch.root, 'registry.yaml');
  writeFileSync(registry, 'version: 1\n');
  const args = [...FROM_SOURCE, 'mcp', ...scratch.options, '--registry', registry, '--profile', 'full'];
  const child = spawn(process.execPath, args, { env: { ...process.env, ...COMPILE_CACHE } });
  t.after(() => child.kill('SIGKILL'));
  const heard: Message[] = [];
  const said: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => heard.push(JSON.parse(line) as Message));
  child.stderr.setEncoding('utf8').on('data', (text: string) => said.push(text));
  let ids = 0;
  const ask = async (method: string, params: object = {}): Promise<Message> => {
    const id = ++ids;
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return eventually(() => heard.find((message) => message.id === id), `the answer of ${method}`);
  };
  const names = async () => ((await ask('tools/list')).result?.tools ?? []).map(({ name }) => name);
  const read = async () =>
    (await ask('tools/call', { name: 'file_read', arguments: { path: 'hello.txt' } })).result?.isError === true;
  const news = () => heard.filter(({ method }) => method === 'notifications/tools/list_changed').length;

  const clientInfo = { name: 'c', version: '1' };
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  assert.ok((await names()).includes('file_read'));
  assert.deepEqual([await read(), news()], [false, 0]);
  writeFileSync(registry, 'version: 1\ntools: { file_read: { enabled: false } }\n');
  await eventually(() => news() === 1, 'the first notice');
  assert.equal((await names()).includes('file_read'), false);
  assert.equal(await read(), true);
  writeFileSync(registry, 'version: 1\nnonsense: [\n');
  await eventually(() => said.join('').includes('Registry'), 'the warning');
  assert.equal((await names()).includes('file_read'), false);
  writeFileSync(registry, 'version: 1\n');
  await eventually(() => news() === 2, 'the second notice');
  assert.equal(await read(), false);
  child.stdin.end();
  assert.deepEqual(await within(once(child, 'exit'), () => 'the end'), [0, null]);
});
