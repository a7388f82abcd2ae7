import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { readBody } from './read-body.ts';

const MAX_BYTES = 64;

/** Answers with what was read, or with the reason it was not. */
const server = createServer(async (incoming, outgoing) => {
  try {
    outgoing.end(`text ${await readBody(incoming, MAX_BYTES)}`);
  } catch (thrown) {
    outgoing.end(isToolError(thrown) ? String(thrown.details['reason']) : 'thrown');
  }
});
before(() => once(server.listen(0, '127.0.0.1'), 'listening'));
after(() => {
  server.closeAllConnections();
  server.close();
});

/** In pieces and without a stated length. */
async function send(...pieces: readonly Uint8Array[]): Promise<string> {
  const { port } = server.address() as AddressInfo;
  const outgoing = request({ port, host: '127.0.0.1', method: 'POST' });
  for (const piece of pieces) outgoing.write(piece);
  outgoing.end();
  const [incoming] = (await once(outgoing, 'response')) as [AsyncIterable<Buffer>];
  let text = '';
  for await (const chunk of incoming) text += chunk.toString('utf8');
  return text;
}

describe('a body', () => {
  test('of no stated length is read up to the limit, and not a byte further', async () => {
    const half = Buffer.alloc(MAX_BYTES / 2, 'a');
    assert.equal(await send(half, half), `text ${'a'.repeat(MAX_BYTES)}`);
    assert.equal(await send(half, half, Buffer.from('a')), 'too_large');
  });

  test('is UTF-8, also where a character is cut in two or replaced on purpose', async () => {
    const text = Buffer.from('né\ufffd');
    assert.equal(await send(text.subarray(0, 2), text.subarray(2)), 'text né\ufffd');
    assert.equal(await send(Buffer.from([0x6e, 0xe9])), 'invalid_utf8');
    assert.equal(await send(text.subarray(0, 2)), 'invalid_utf8');
  });
});
