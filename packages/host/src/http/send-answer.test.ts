import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { ToolError } from '@tool-runtime/protocol';
import { exchange, type RawAnswer } from '../../test/wire/raw-http.ts';
import { errorAnswer } from '../sessions/refusals.ts';
import { sendError } from './send-answer.ts';

/** What a client is told when this is the reason. */
async function refusedFor(reason: string): Promise<RawAnswer> {
  const error = errorAnswer(new ToolError('E_VALIDATION_FAIL', 'Refused', { details: { reason } }), null);
  const server = createServer((_, outgoing) => sendError(outgoing, error));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    return await exchange({ port }, { target: '/' });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('a body that was too large to be read ends the connection, other refusals do not', async () => {
  const large = await refusedFor('too_large');
  assert.deepEqual([large.status, large.headers.get('connection')], [413, 'close']);
  const other = await refusedFor('malformed');
  assert.deepEqual([other.status, other.headers.get('connection')], [400, 'keep-alive']);
});

test('a client without a token learns which kind is wanted, and no other client does', async () => {
  assert.match((await refusedFor('token_missing')).headers.get('www-authenticate') ?? '', /^Bearer /);
  assert.equal((await refusedFor('scope_missing')).headers.get('www-authenticate'), undefined);
});
