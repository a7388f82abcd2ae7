import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { openScratchServers, received, type ScratchServers, scripted } from '../../test/scratch-servers.ts';
import type { LanguageServer } from './language-server.ts';

async function open(
  t: TestContext,
  files: Readonly<Record<string, string>>,
): Promise<ScratchServers & { server: LanguageServer }> {
  const script = { on: { 'textDocument/hover': [[{ answer: null }]] } };
  const scratch = openScratchServers(t, { files, providers: [scripted(script)] });
  return { ...scratch, server: await scratch.manager.serverOf('scripted') };
}

const look = (server: LanguageServer, path: string) => server.hover({ path, line: 0, character: 0 });

/** What the server was told about documents, in short. */
async function told(server: LanguageServer): Promise<readonly unknown[]> {
  const messages = await received(server);
  return messages.flatMap(({ method = '', params }): unknown[] => {
    const name = method.replace(/^.*\//, '');
    if (name === 'didChangeWatchedFiles')
      return [[name, ...params.changes.map((each: { uri: string; type: number }) => `${each.uri} ${each.type}`)]];
    if (!/^did(Open|Change|Save|Close)$/.test(name)) return [];
    const { uri, version, text } = params.textDocument;
    return [[name, uri, ...[version, text ?? params.contentChanges?.[0].text].filter((each) => each !== undefined)]];
  });
}

describe('documents of a server', () => {
  test('are opened for a request and brought up to date before the next, told or not', async (t) => {
    const { server, write } = await open(t, { 'a.txt': '\uFEFFone\r\n' });
    await look(server, './a.txt');
    await look(server, 'a.txt');
    write('a.txt', 'two\n');
    await look(server, 'a.txt');
    assert.deepEqual(await told(server), [
      ['didOpen', 'a.txt', 1, 'one\r\n'],
      ['didChange', 'a.txt', 2, 'two\n'],
      ['didSave', 'a.txt'],
    ]);
  });

  test('follow what the bus says, and files that are not open are only announced', async (t) => {
    const { server, manager, write, remove } = await open(t, { 'a.txt': 'one', 'sub/b.txt': 'b', 'c.txt': 'c' });
    await look(server, 'a.txt');
    await look(server, 'sub/b.txt');
    write('a.txt', 'two');
    write('new.txt', 'n');
    remove('sub');
    await manager.changed([
      { path: 'a.txt', kind: 'changed' },
      { path: 'new.txt', kind: 'created' },
      { path: 'sub', kind: 'deleted' },
    ]);
    await manager.changed([]);
    assert.deepEqual(await told(server), [
      ['didOpen', 'a.txt', 1, 'one'],
      ['didOpen', 'sub/b.txt', 2, 'b'],
      ['didChange', 'a.txt', 4, 'two'],
      ['didSave', 'a.txt'],
      ['didClose', 'sub/b.txt'],
      ['didChangeWatchedFiles', 'a.txt 2', 'new.txt 1', 'sub 3'],
    ]);
  });

  test('are closed when they vanish or stop being text', async (t) => {
    const { server, manager, write, remove } = await open(t, { 'a.txt': 'one', 'b.txt': 'b' });
    await look(server, 'a.txt');
    await look(server, 'b.txt');
    remove('a.txt');
    write('b.txt', 'x'.repeat(4 * 1024 * 1024 + 1));
    await manager.changed([
      { path: 'a.txt', kind: 'changed' },
      { path: 'b.txt', kind: 'changed' },
    ]);
    assert.deepEqual((await told(server)).slice(2), [
      ['didClose', 'a.txt'],
      ['didClose', 'b.txt'],
      ['didChangeWatchedFiles', 'a.txt 2', 'b.txt 2'],
    ]);
    const isTooLarge = (thrown: unknown) => isToolError(thrown) && thrown.details['reason'] === 'too_large';
    await assert.rejects(look(server, 'b.txt'), isTooLarge);
    await assert.rejects(look(server, 'a.txt'), (thrown) => isToolError(thrown) && thrown.code === 'E_FILE_IO');
  });

  test('are twenty at most, the least recently used goes', async (t) => {
    const names = Array.from({ length: 21 }, (_, at) => `f${at}.txt`);
    const { server } = await open(t, Object.fromEntries(names.map((name) => [name, name])));
    for (const name of names.slice(0, 20)) await look(server, name);
    await look(server, 'f0.txt');
    await look(server, 'f20.txt');
    const closed = (await told(server)).filter((each) => Array.isArray(each) && each[0] === 'didClose');
    assert.deepEqual(closed, [['didClose', 'f1.txt']]);
  });

  test('that are opened at once are opened once', async (t) => {
    const { server } = await open(t, { 'a.txt': 'one' });
    await Promise.all([look(server, 'a.txt'), look(server, 'a.txt'), look(server, 'a.txt')]);
    assert.equal((await told(server)).length, 1);
  });

  test('outside the workspace are not opened', async (t) => {
    const { server, manager } = await open(t, {});
    const isRefused = (thrown: unknown) => isToolError(thrown) && thrown.code === 'E_POLICY';
    await assert.rejects(look(server, '../x.txt'), isRefused);
    await server.start();
    await assert.rejects(manager.changed([{ path: '/etc/passwd', kind: 'changed' }]), isRefused);
    assert.deepEqual(await told(server), []);
  });
});
