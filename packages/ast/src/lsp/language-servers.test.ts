import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { openScratchServers, received, scripted } from '../../test/scratch-servers.ts';

const failing = (code: string, reason: string) => (thrown: unknown) =>
  isToolError(thrown) && thrown.code === code && thrown.details['reason'] === reason;

describe('the language servers of a workspace', () => {
  test('answer E_POLICY for a provider that is not configured [S0-56]', async (t) => {
    const { manager } = openScratchServers(t, { providers: [scripted()] });
    await assert.rejects(manager.serverOf('made-up'), failing('E_POLICY', 'not_configured'));
    assert.equal((await manager.serverOf('scripted')).provider, 'scripted');
  });

  test('answer E_POLICY with what to install when the program is not there [S0-56]', async (t) => {
    const missing = scripted({}, { command: 'no-such-language-server', install: 'install it with apt' });
    const { manager } = openScratchServers(t, { providers: [missing], files: { 'a.txt': '' } });
    await assert.rejects(manager.serverFor('a.txt'), (thrown) => {
      assert.ok(failing('E_POLICY', 'not_installed')(thrown));
      assert.equal(isToolError(thrown) && thrown.details['next'], 'install it with apt');
      return true;
    });
    // No pause: what is not installed does not wear off.
    await assert.rejects(manager.serverFor('a.txt'), failing('E_POLICY', 'not_installed'));
  });

  test('take the next provider when one is missing or does not come up', async (t) => {
    const providers = [
      scripted({}, { name: 'missing', command: 'no-such-language-server' }),
      scripted({ atStart: [{ die: 1 }] }, { name: 'broken' }),
      scripted({}, { name: 'other files', documents: { '.md': 'markdown' } }),
      scripted({}, { name: 'good' }),
    ];
    const { manager } = openScratchServers(t, { providers, files: { 'a.txt': '' } });
    assert.equal((await manager.serverFor('a.txt')).provider, 'good');
    assert.equal(manager.covers('a.txt'), true);
    assert.equal(manager.covers('a.rs'), false);
    assert.equal(manager.covers('.txt'), false);
    await assert.rejects(
      manager.serverFor('a.rs'),
      (thrown) => isToolError(thrown) && thrown.code === 'E_VALIDATION_FAIL',
    );
  });

  test('root a server at the outermost folder with a marker', async (t) => {
    const { manager } = openScratchServers(t, {
      providers: [scripted()],
      files: { 'one/root.marker': '', 'one/in/root.marker': '', 'one/in/a.txt': '', 'two/deep/a.txt': '', 'a.txt': '' },
    });
    const folderOf = async (path: string) => (await manager.serverFor(path)).folder;
    assert.equal(await folderOf('one/in/a.txt'), 'one');
    assert.equal(await folderOf('two/deep/a.txt'), '.');
    assert.equal(await folderOf('a.txt'), '.');
    const server = await manager.serverFor('one/in/a.txt');
    const hello = (await received(server)).find(({ method }) => method === 'initialize');
    assert.equal(hello?.params.rootUri, 'one');
    assert.equal(manager.list().length, 2);
  });

  test('are a few at once: the longest idle makes room, unless all work', async (t) => {
    const files = Object.fromEntries(
      ['a', 'b', 'c'].flatMap((name) => [
        [`${name}/root.marker`, ''],
        [`${name}/x.txt`, ''],
      ]),
    );
    const { manager } = openScratchServers(t, {
      providers: [scripted({ on: { 'textDocument/hover': [[{ wait: 300 }, { answer: null }]] } })],
      files,
      maxServers: 2,
    });
    const running = () =>
      manager
        .list()
        .filter(({ state }) => state === 'running')
        .map(({ folder }) => folder);
    const a = await manager.serverFor('a/x.txt');
    await manager.serverFor('b/x.txt');
    await a.start();
    const c = await manager.serverFor('c/x.txt');
    assert.deepEqual(running(), ['a', 'c']);
    const busy = [a, c].map((server) => server.hover({ path: `${server.folder}/x.txt`, line: 0, character: 0 }));
    await assert.rejects(manager.serverFor('b/x.txt'), failing('E_TIMEOUT', 'servers_busy'));
    await Promise.all(busy);
  });

  test('run in the sandbox: the workspace is seen, nothing else of the host, no network', async (t) => {
    const here = import.meta.filename;
    const steps = [[{ peek: [here] }], [{ die: 3 }]];
    const at = { path: 'a.txt', line: 0, character: 0 };
    const open = (isolation: 'bubblewrap' | 'none') => {
      const providers = [scripted({ on: { 'textDocument/hover': steps } })];
      return openScratchServers(t, { isolation, providers, files: { 'a.txt': 'one' } }).manager.serverFor('a.txt');
    };
    const server = await open('bubblewrap');
    assert.deepEqual(JSON.parse((await server.hover(at))?.text ?? ''), { seen: [], networks: 0 });
    await assert.rejects(server.hover(at), (thrown) => isToolError(thrown) && thrown.details['exit'] === 3);
    assert.ok((await received(server)).length > 0, 'and is started again');
    const { seen } = JSON.parse((await (await open('none')).hover(at))?.text ?? '') as { seen: unknown };
    assert.deepEqual(seen, [here]);
  });

  test('that are closed start nothing more', async (t) => {
    const { manager } = openScratchServers(t, { providers: [scripted()], files: { 'a.txt': '' } });
    await manager.serverFor('a.txt');
    await manager.close();
    await assert.rejects(manager.serverFor('a.txt'), (thrown) => isToolError(thrown) && thrown.code === 'E_INTERNAL');
  });
});
