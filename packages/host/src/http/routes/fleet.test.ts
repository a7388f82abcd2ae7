import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHostClient } from '@tool-runtime/protocol/client';
import { openMember } from '../../../test/fleet-member.ts';
import { openHost } from '../../../test/open-host.ts';

test('who may look back sees the fleet; a caller from the fleet does not, and a host alone has none', async (t) => {
  const { ask, running } = await openMember(t);
  const client = createHostClient({ url: running.url ?? '', token: running.token ?? '' });
  const state = await client.fleet();
  assert.deepEqual([state.host, state.hosts.length, state.streams[1]?.leader], ['a', 2, undefined]);
  const { status, body } = await ask({ user: 'agent', workspace: 'one' }, 'GET', '/v1/fleet');
  assert.deepEqual([status, body.code], [403, 'E_POLICY']);
  await using alone = await openHost();
  const none = await alone.request('/v1/fleet');
  assert.equal(none.status, 404);
  assert.equal(((await none.json()) as { details: { reason: string } }).details.reason, 'no_fleet');
});
