import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import type { ToolError } from '@tool-runtime/protocol';
import { createSpawner } from '../processes/spawner.ts';
import { createNoIsolation, createSessionSandbox } from './session-sandbox.ts';

const workspace = mkdtempSync(join(tmpdir(), 'tool-runtime-session-sandbox-'));
after(() => rmSync(workspace, { recursive: true, force: true }));

describe('durability full', () => {
  const real = createSpawner();
  const end = { code: 0, signal: null };

  function enter(program: string, writable: boolean) {
    const shared = createSessionSandbox({
      ...{ workspace, isolation: createNoIsolation(), allowedDomains: [], durability: 'full' },
      spawner: { ...real, spawn: (options) => real.spawn({ ...options, program }) },
    });
    const request = { workspace: shared.workspace, writable, proxySocket: null, protectedPaths: [] };
    return { sandbox: shared.isolation.enter(request), close: shared.close };
  }

  test('fails with sync_failed when the disk does not take what a program wrote', async () => {
    const { sandbox, close } = enter('/bin/false', true);
    await assert.rejects(
      sandbox.settle(end, ''),
      (error: ToolError) => error.code === 'E_INTERNAL' && error.details['reason'] === 'sync_failed',
    );
    await close();
  });

  test('ends when the disk took it, and does not ask it about a program that can only read', async () => {
    for (const { sandbox, close } of [enter('/usr/bin/sync', true), enter('/bin/false', false)]) {
      assert.deepEqual(await sandbox.settle(end, ''), end);
      await close();
    }
  });
});
