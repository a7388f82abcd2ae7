import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { completed, completingResults } from './complete-results.ts';

describe('results of a mounted server', () => {
  test('count as complete when they do not say of which type they are; others stay as they are', () => {
    const plain = { jsonrpc: '2.0', id: 1, result: { content: [] } } as const;
    assert.deepEqual(completed(plain), { ...plain, result: { content: [], resultType: 'complete' } });
    const asking = { jsonrpc: '2.0', id: 1, result: { resultType: 'input_required' } } as const;
    assert.equal(completed(asking), asking);
    const request = { jsonrpc: '2.0', id: 1, method: 'ping' } as const;
    assert.equal(completed(request), request);
  });

  test('of 2026 without a type are read by the official client, which refuses them otherwise', async () => {
    for (const isCompleting of [true, false]) {
      const [ours, theirs] = InMemoryTransport.createLinkedPair();
      theirs.onmessage = (message) => {
        if (!('method' in message) || !('id' in message)) return;
        const discovered = {
          resultType: 'complete',
          supportedVersions: ['2026-07-28'],
          capabilities: { tools: {} },
          serverInfo: { name: 's', version: '1' },
        };
        const result = message.method === 'server/discover' ? discovered : { content: [{ type: 'text', text: 'hi' }] };
        void theirs.send({ jsonrpc: '2.0', id: message.id, result });
      };
      const client = new Client({ name: 'c', version: '1' }, { versionNegotiation: { mode: 'auto' } });
      await client.connect(isCompleting ? completingResults(ours) : ours);
      assert.equal(client.getProtocolEra(), 'modern');
      const calling = client.callTool({ name: 'x', arguments: {} });
      if (isCompleting) assert.deepEqual((await calling).content, [{ type: 'text', text: 'hi' }]);
      else await assert.rejects(calling, /missing required resultType/);
      await client.close();
    }
  });
});
