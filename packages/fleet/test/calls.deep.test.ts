/** Calls through a fleet: real servers, hosts as processes of their own. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { startFleet, startHostProcess } from './fixtures.ts';

const STRATEGIES = [
  { type: 'sequential' },
  { type: 'bounded_concurrent', max_in_flight: 2 },
  { type: 'ordered_batch', max_in_flight: 2 },
] as const;

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

  test('batches in each order, progress while a call runs, and a cancel that ends it', async (t) => {
    const fleet = await startFleet(t);
    const workspace = path.join(fleet.folder, 'shop');
    mkdirSync(workspace);
    const registry = path.join(fleet.folder, 'registry.yaml');
    writeFileSync(registry, 'version: 1\nshell: { mode: sandboxed }\n');
    const state = path.join(fleet.folder, 'state-a');
    startHostProcess(t, 'a', { workspace, file: fleet.write('a'), state, registry });
    const client = await fleet.client();
    const names = ['1', '2', '3'];
    for (const strategy of STRATEGIES) {
      const writes = names.map((content) => ({ tool: 'file_write', args: { path: 'last', content } }));
      const answers = await client.batch(writes, { strategy });
      assert.deepEqual(
        answers.map((answer) => answer.type === 'ToolResponse' && answer.ok),
        [true, true, true],
        JSON.stringify(answers),
      );
      if (strategy.type === 'sequential') assert.equal(readFileSync(path.join(workspace, 'last'), 'utf8'), '3');
    }
    const stop = new AbortController();
    const said: string[] = [];
    const args = { cmd: 'touch began; echo first; sleep 600; touch late', timeout_ms: 600_000 };
    const running = client.call('shell_exec', args, {
      signal: stop.signal,
      onEvent({ event, data }) {
        said.push(`${event} ${JSON.stringify(data)}`);
        if (said.join().includes('first')) stop.abort();
      },
    });
    await assert.rejects(
      running.then((answer) => {
        if (!answer.ok) throw new Error('cancelled');
      }),
    );
    assert.ok(said.join().includes('first'), said.join('\n'));
    const next = await client.call('shell_exec', { cmd: 'true' });
    assert.equal(next.ok, true, JSON.stringify(next));
    assert.ok(existsSync(path.join(workspace, 'began')) && !existsSync(path.join(workspace, 'late')));
    await client.close();
  });
});
