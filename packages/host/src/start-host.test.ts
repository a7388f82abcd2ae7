import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { SCOPES } from '@tool-runtime/protocol';
import { openHost } from '../test/open-host.ts';
import { createScratch } from '../test/run-cli.ts';
import { createTokenBook } from './auth/tokens.ts';
import { fillParts, startHost } from './start-host.ts';

const TOKEN = 'tok_0123456789abcdef0123456789abcdef';

function folders(t: TestContext) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'start-host-')));
  const workspace = join(base, 'workspace');
  mkdirSync(join(workspace, 'run'), { recursive: true });
  t.after(() => rmSync(base, { recursive: true, force: true }));
  return { base, workspace };
}

describe('what governs a host', () => {
  test('a socket inside a workspace is refused, however it is spelled; one beside it is not', async (t) => {
    const { base, workspace } = folders(t);
    symlinkSync(join(workspace, 'run'), join(base, 'link'));
    const inside = [
      join(workspace, 'host.sock'),
      join(workspace, 'run/host.sock'),
      join(workspace, 'new/host.sock'),
      join(base, 'link/host.sock'),
      join(base, 'workspace/run/../host.sock'),
    ];
    for (const socket of inside) {
      await assert.rejects(openHost({ workspaces: [workspace], socket }), {
        code: 'E_POLICY',
        message: /^Socket lies inside a workspace/,
      });
    }
    await using host = await openHost({ workspaces: [workspace], socket: join(base, 'host.sock') });
    assert.equal(host.socket, join(base, 'host.sock'));
  });

  test('a token file inside a workspace is neither read nor changed by tools', async (t) => {
    const { workspace } = folders(t);
    const path = join(workspace, 'run/tokens');
    writeFileSync(path, `${TOKEN}\n`, { mode: 0o600 });
    writeFileSync(join(workspace, 'run/twin'), 'ordinary');
    await using host = await openHost({
      workspaces: [workspace],
      tokens: createTokenBook({ path, now: Date.now }),
    });
    const [{ runtime } = assert.fail()] = host.host.workspaces.all;
    const session = await runtime.openSession();
    for (const [tool, args] of [
      ['file_read', {}],
      ['file_write', { content: 'x' }],
      ['fs_delete', {}],
    ] as const) {
      const refused = await session.call(tool, { path: 'run/tokens', ...args });
      assert.equal(refused.errors[0]?.code, 'E_POLICY', tool);
      assert.ok((await session.call(tool, { path: 'run/twin', ...args })).ok, tool);
    }
    assert.equal(readFileSync(path, 'utf8'), `${TOKEN}\n`);
  });
});

describe('a host without parts of its own', () => {
  test('makes one token, with every scope, and a new one each time', () => {
    const [first, second] = [fillParts({}), fillParts({})];
    assert.deepEqual(first.tokens.find(first.token ?? '')?.scopes, new Set(SCOPES));
    assert.equal(first.tokens.find(second.token ?? ''), undefined);
  });

  test('makes none beside the tokens it is given', () => {
    const tokens = createTokenBook({ lines: [], now: Date.now });
    const filled = fillParts({ tokens, serverVersion: '9' });
    assert.deepEqual([filled.token, filled.tokens, filled.serverVersion], [undefined, tokens, '9']);
  });

  test('serves clients with that token and no others', async () => {
    using scratch = createScratch();
    mkdirSync(scratch.state, { mode: 0o700 });
    const { workspace, state } = scratch;
    const running = await startHost({ workspaces: [workspace], state, http: { hostname: '127.0.0.1', port: 0 } });
    const ask = async (token: string | undefined): Promise<number> =>
      (await fetch(`${running.url}/v1/status`, { headers: { authorization: `Bearer ${token}` } })).status;
    try {
      assert.deepEqual([await ask(running.token), await ask('trt_somebody_elses_token_000000000000')], [200, 401]);
    } finally {
      await running.stop({ now: true });
    }
  });
});
