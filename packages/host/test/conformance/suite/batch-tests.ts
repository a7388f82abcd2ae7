/** Batches over a connection: one message, one answer, the strategy as asked for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BatchResponse, ServerMessage } from '@tool-runtime/protocol';
import { batchRequest, cancelRequest, readRequest } from '../envelopes.ts';
import { outcomeOf } from '../inbox.ts';
import type { Transport } from '../transport.ts';
import { settled } from './call-tests.ts';

export function batchTests(transport: () => Transport): void {
  test('a batch is answered once, with one response per call, under every strategy [S1-32]', async () => {
    const client = await transport().connect();
    for (const type of ['sequential', 'ordered_batch', 'bounded_concurrent'] as const) {
      const id = `batch-${type}`;
      const path = `${type}.txt`;
      const calls = [
        { request_id: `${id}-1`, tool: 'file_write', args: { path, content: type } },
        { request_id: `${id}-2`, tool: 'file_read', args: { path } },
        { request_id: `${id}-3`, tool: 'file_read', args: { path: 'no-such-file.txt' } },
      ];
      const strategy = type === 'sequential' ? { type } : { type, max_in_flight: 2 };
      client.send(batchRequest(client, id, calls, { strategy }));
      const { responses } = await client.inbox.until(isBatch(id));
      const byId = new Map(responses.map((response) => [response.request_id, response]));
      assert.deepEqual(
        calls.map(({ request_id }) => outcomeOf(byId.get(request_id)!)),
        ['ok', 'ok', 'E_FILE_IO'],
      );
      const read = byId.get(`${id}-2`);
      assert.ok(read?.type === 'ToolResponse' && (read.data as { content: string }).content === type);
      if (type !== 'bounded_concurrent') {
        const released = responses.map(({ request_id }) => request_id);
        assert.deepEqual(
          released,
          calls.map(({ request_id }) => request_id),
        );
      }
    }
    await settled(client);
    assert.equal(client.inbox.messages.filter(({ type }) => type === 'BatchResponse').length, 3);
    assert.deepEqual(client.inbox.terminals('batch-sequential-1'), []);
  });

  test('a batch with an unknown strategy is refused and runs nothing; a used id refuses one call', async () => {
    const { connect, traits } = transport();
    const client = await connect();
    const calls = [{ request_id: 'w', tool: 'file_write', args: { path: 'refused.txt', content: 'x' } }];
    if (traits.sends !== 'messages') {
      client.sendRaw(
        `${JSON.stringify({ ...batchRequest(client, 'odd', calls), strategy: { type: 'all_at_once' } })}\n`,
      );
      assert.equal(outcomeOf(await client.inbox.terminal('odd')), 'refused invalid_fields');
    }
    client.send(readRequest(client, 'used'));
    assert.equal(outcomeOf(await client.inbox.terminal('used')), 'ok');
    const read = { tool: 'file_read', args: { path: 'hello.txt' } };
    client.send(
      batchRequest(client, 'mixed', [
        { ...read, request_id: 'used' },
        { ...read, request_id: 'fresh' },
        { tool: 'file_read', args: { path: 'refused.txt' }, request_id: 'not-written' },
      ]),
    );
    const { responses } = await client.inbox.until(isBatch('mixed'));
    assert.deepEqual(responses.map(outcomeOf), ['refused request_id_reused', 'ok', 'E_FILE_IO']);
    client.send(batchRequest(client, 'mixed', [{ ...read, request_id: 'again' }]));
    assert.equal(outcomeOf(await client.inbox.terminal('mixed')), 'refused request_id_reused');
    client.send({ ...batchRequest(client, 'stranger', [{ ...read, request_id: 'other' }]), session_id: 'sess-none' });
    assert.equal(outcomeOf(await client.inbox.terminal('stranger')), 'refused unknown_session');
  });

  test('a cancelled batch stops the call that runs and begins none after it', async () => {
    const { connect, stage } = transport();
    const client = await connect();
    await client.attach();
    const name = stage.name();
    client.send(
      batchRequest(client, 'stopped', [
        { request_id: 'waits', tool: 'shell_exec', args: { cmd: 'sh wait', cwd: name } },
        { request_id: 'after', tool: 'file_write', args: { path: `${name}/late.txt`, content: 'x' } },
      ]),
    );
    await client.inbox.until((message) => message.type === 'EventMessage' && message.request_id === 'waits');
    client.send(cancelRequest(client, 'stopped'));
    const { responses } = await client.inbox.until(isBatch('stopped'));
    assert.ok(responses.every((response) => outcomeOf(response) !== 'ok'));
    assert.deepEqual([stage.runs(name), stage.has(`${name}/late.txt`)], [0, false]);
  });
}

function isBatch(requestId: string) {
  return (message: ServerMessage): message is BatchResponse =>
    message.type === 'BatchResponse' && message.request_id === requestId;
}
