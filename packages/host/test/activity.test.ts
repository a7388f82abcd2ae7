import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type CallsChanged, callsChangedSchema, type EventMessage } from '@tool-runtime/protocol';
import { createHostClient, type HostClient } from '@tool-runtime/protocol/client';
import { openHost, type TestHost, TOKENS } from './open-host.ts';

let host: TestHost;
let client: HostClient;
let session: string;
before(async () => {
  host = await openHost();
  client = createHostClient({ url: host.url, token: TOKENS.operator });
  session = (await client.openSession()).session_id;
});
after(() => host[Symbol.asyncDispose]());

const list = () => client.call(session, { tool: 'fs_list', args: { path: '.' } });
const ended = ({ data }: EventMessage): boolean =>
  (data as Partial<CallsChanged> | undefined)?.workspaces?.some(({ calls }) => calls.length > 0) === true;

/** A reader of the stream; `until` resolves with the first event from now on that passes. */
async function follow(options: { readonly calls?: boolean; readonly after?: number } = {}) {
  const events: EventMessage[] = [];
  const waiting = new Set<(event: EventMessage) => void>();
  const ending = new AbortController();
  const opened = Promise.withResolvers<void>();
  const done = client.activity({
    ...options,
    signal: ending.signal,
    onOpen: opened.resolve,
    onEvent(event) {
      events.push(event);
      for (const hear of waiting) hear(event);
    },
  });
  await opened.promise;
  return {
    events,
    until: (isWanted: (event: EventMessage) => boolean): Promise<EventMessage> =>
      new Promise((resolve) => {
        waiting.add(function hear(event) {
          if (!isWanted(event)) return;
          waiting.delete(hear);
          resolve(event);
        });
      }),
    async [Symbol.asyncDispose]() {
      ending.abort();
      await done;
    },
  };
}

describe('GET /v1/activity', () => {
  test('says which calls changed to those who want to know, as GET /v1/calls has them', async () => {
    await using reader = await follow({ calls: true });
    await using other = await follow();
    const [told, plain] = [reader.until(ended), other.until(({ event }) => event === 'CallsChanged')];
    await list();
    const { data, id } = await told;
    const changed = callsChangedSchema.parse(data);
    const [news] = changed.workspaces ?? [];
    const page = await client.calls({ limit: 1 });
    assert.equal(news?.workspace, page.workspace);
    assert.deepEqual(news?.calls, page.calls);
    const heard = await plain;
    assert.equal(heard.id, id);
    assert.deepEqual(Object.keys(callsChangedSchema.parse(heard.data)), ['running', 'waiting']);
  });

  test('is made once for all readers', async () => {
    const { activity } = host.host;
    await using one = await follow({ calls: true });
    await using two = await follow({ calls: true });
    const bytes: Buffer[] = [];
    const leave = [0, 1].map(() => activity.listen(({ bytes: frame }) => bytes.push(frame), { calls: true }));
    const both = [one.until(ended), two.until(ended)];
    await list();
    const [first, second] = await Promise.all(both);
    assert.deepEqual(first, second);
    assert.ok(bytes.length >= 2 && bytes[0] === bytes[1]);
    for (const end of leave) end();
  });

  test('a reader that comes back gets what it missed in order, and of changed calls the newest word', async () => {
    await using first = await follow();
    const changed = first.until(({ event }) => event === 'CallsChanged');
    await list();
    const { id = 0 } = await changed;
    host.host.activity.announce('RegistryChanged', { workspace: 'one' });
    host.host.activity.announce('RegistryChanged', { workspace: 'two' });
    const again = first.until(({ event }) => event === 'CallsChanged');
    await list();
    const last = await again;
    await using back = await follow({ after: id, calls: true });
    while (back.events.length < 3) await back.until(() => true);
    assert.deepEqual(
      back.events.slice(0, 3).map(({ event, data }) => [event, data?.['workspace']]),
      [
        ['RegistryChanged', 'one'],
        ['RegistryChanged', 'two'],
        ['CallsChanged', undefined],
      ],
    );
    assert.equal(back.events[2]?.id, last.id);
  });

  test('is for readers with the scope audit', async () => {
    for (const token of [TOKENS.caller, TOKENS.reader, TOKENS.approver]) {
      const answer = await host.request('/v1/activity?calls=true', { token });
      assert.equal(answer.status, 403);
      await answer.body?.cancel();
    }
  });
});
