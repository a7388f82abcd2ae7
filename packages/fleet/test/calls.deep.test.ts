/** Calls through a fleet: real servers, hosts as processes of their own. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { startFleet, startHostProcess } from './fixtures.ts';

describe('calls through a fleet', () => {
  test('no_host at once when no host holds the workspace, and a call when one does', async (t) => {
    const fleet = await startFleet(t);
    await assert.rejects(
      fleet.client({ waitMs: 0 }),
      (error) => isToolError(error) && error.details['reason'] === 'no_host',
    );
    const workspace = path.join(fleet.folder, 'shop');
    mkdirSync(workspace);
    writeFileSync(path.join(workspace, 'a.txt'), 'hello\n');
    const host = startHostProcess(t, 'a', {
      workspace,
      file: fleet.write('a'),
      state: path.join(fleet.folder, 'state-a'),
    });
    const client = await fleet.client();
    const read = await client.call('file_read', { path: 'a.txt' });
    assert.equal(read.ok, true, JSON.stringify(read));
    const written = await client.call('file_write', { path: 'b.txt', content: 'new\n' }, { idempotencyKey: 'k1' });
    assert.equal(written.ok, true, JSON.stringify(written));
    assert.equal(readFileSync(path.join(workspace, 'b.txt'), 'utf8'), 'new\n');
    await client.close();
    host.process.kill('SIGTERM');
    assert.equal(await host.ended, 0, host.log.join('\n'));
  });
});
