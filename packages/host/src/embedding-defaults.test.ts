import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { SCOPES } from '@tool-runtime/protocol';
import { createScratch } from '../test/run-cli.ts';
import { createTokenBook } from './auth/tokens.ts';
import { fillParts } from './embedding-defaults.ts';
import { startHost } from './start-host.ts';

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
