import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nothing, openScratchRuntime } from '@tool-runtime/sdk/testing';
import { createActivity } from './activity.ts';

const IDLE = { running: 0, waiting: 0, asking: 0 };

/** Resolves when a fresh activity with a listener has looked for the first time. */
async function nextLook(): Promise<void> {
  const looked = Promise.withResolvers<void>();
  const clock = createActivity({
    nextEventId: () => 1,
    work() {
      looked.resolve();
      return IDLE;
    },
    workspaces: () => [],
  });
  const leave = clock.listen(() => {}, { calls: false });
  await looked.promise;
  leave();
}

test('without readers no journal is looked at', async () => {
  const { runtime, session, dispose } = await openScratchRuntime({ tools: [nothing] });
  const looks = { count: 0, heard: (): void => {} };
  const watched = {
    name: 'w',
    get runtime() {
      looks.count += 1;
      looks.heard();
      return runtime;
    },
  };
  let id = 0;
  const activity = createActivity({
    nextEventId: () => ++id,
    work: () => IDLE,
    workspaces: () => [watched],
  });
  activity.announce('RegistryChanged', {});
  assert.equal(looks.count, 0);
  const seen = Promise.withResolvers<Buffer>();
  const leave = activity.listen(({ bytes }) => seen.resolve(bytes), { calls: true });
  await session.call('probe_nothing', {});
  assert.match(String(await seen.promise), /"tool":"probe_nothing"/);
  leave();
  leave();
  const before = looks.count;
  looks.heard = () => assert.fail('a journal was looked at');
  await session.call('probe_nothing', {});
  // Another one with a listener, as the clock: it looks as often as the first one would.
  for (let look = 0; look < 2; look += 1) await nextLook();
  assert.equal(looks.count, before);
  await dispose();
});
