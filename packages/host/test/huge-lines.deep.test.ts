/** A line far over the limit is answered, so that the typed client's call ends, however long the line is. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { isToolError, type ToolError } from '@tool-runtime/protocol';
import { type Connection, createToolClient, lineConnection } from '@tool-runtime/protocol/client';
import { openHost } from './open-host.ts';
import { createScratch, startCli } from './run-cli.ts';

const SIZES = [20, 40, 100];

async function refusalOf(connection: Connection, megabytes: number): Promise<ToolError> {
  const client = createToolClient(connection);
  const args = { path: 'a.txt', content: 'x'.repeat(megabytes * 1024 * 1024) };
  try {
    const { errors } = await client.call('file_write', args);
    assert.fail(`answered with ${JSON.stringify(errors).slice(0, 200)}`);
  } catch (thrown) {
    assert.ok(isToolError(thrown), String(thrown).slice(0, 200));
    return thrown;
  }
}

describe('lines of 20 to 100 MB end the call of the typed client', () => {
  test('over a Unix socket, and the host answers others', async () => {
    await using host = await openHost();
    for (const megabytes of SIZES) {
      const socket = connect(host.socket);
      socket.write('\n');
      const error = await refusalOf(lineConnection({ readable: socket, writable: socket }), megabytes);
      assert.deepEqual([error.code, error.details['reason']], ['E_VALIDATION_FAIL', 'too_large']);
      assert.equal((await host.request('/healthz', { token: '' })).status, 200);
      socket.destroy();
    }
  });

  test('over the stdio of a child process', async () => {
    const scratch = createScratch();
    for (const megabytes of SIZES) {
      const child = startCli(['stdio', ...scratch.options]);
      const connection = lineConnection({ readable: child.stdout, writable: child.stdin });
      const error = await refusalOf(connection, megabytes);
      assert.deepEqual([error.code, error.details['reason']], ['E_VALIDATION_FAIL', 'too_large']);
      child.kill();
    }
    scratch[Symbol.dispose]();
  });
});
