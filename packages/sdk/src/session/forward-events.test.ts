import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wait } from '../testing/probe-tools.ts';
import { openScratchRuntime } from '../testing/scratch-runtime.ts';

test('an event of a child never passes for one of a call of the parent, though both have the same id [S3-49 S0-10]', async () => {
  const { session, dispose } = await openScratchRuntime({ tools: [wait] });
  const heard: { event: string; request_id: string; of: unknown }[] = [];
  session.listen(
    ({ message: { event, request_id, data } }) => heard.push({ event, request_id, of: data?.['child_request_id'] }),
    { events: 'progress' },
  );
  const child = await session.openChild({ agentId: 'a' });
  await child.call('probe_wait', { ms: 1 }, { requestId: 'r1' });
  const own = heard.filter(({ request_id }) => request_id === 'r1');
  assert.deepEqual(own, []);
  const told = heard.filter(({ event }) => event === 'ChildEvent');
  assert.ok(told.length > 0 && told.every(({ request_id, of }) => request_id === child.id && of === 'r1'));
  await session.call('probe_wait', { ms: 1 }, { requestId: 'r1' });
  assert.ok(heard.some(({ event, request_id }) => event === 'TaskProgress' && request_id === 'r1'));
  await dispose();
});
