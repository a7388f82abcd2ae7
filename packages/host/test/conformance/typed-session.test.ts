/** The typed client as programs use it: from an address and a token to calls, across cut wires. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { EventMessage } from '@tool-runtime/protocol';
import { connectToHost, createHostClient, type HostSession } from '@tool-runtime/protocol/client';
import { TOKENS } from '../open-host.ts';
import { type CutProxy, openCutProxy } from '../wire/cut-proxy.ts';
import { addressOf } from '../wire/raw-socket.ts';
import { eventually } from '../wire/within.ts';
import { type HostStage, openHostStage } from './host-stage.ts';

for (const transport of ['ws', 'http'] as const) {
  describe(`the typed client over ${transport}`, () => {
    let hostStage: HostStage;
    let proxy: CutProxy;
    let client: HostSession;
    before(async () => {
      hostStage = await openHostStage();
      proxy = await openCutProxy((addressOf(hostStage.host.url) as { port: number }).port);
      client = await connectToHost({
        url: `http://127.0.0.1:${proxy.port}`,
        token: TOKENS.caller,
        transport,
        reconnect: { minDelayMs: 10, maxDelayMs: 100 },
      });
    });
    after(async () => {
      await client.close();
      await proxy.close();
      await hostStage.close();
    });
    const waiting = (cwd: string) => ['shell_exec', { cmd: 'sh wait', cwd }] as const;

    test('calls, many at once', async () => {
      const answers = await Promise.all(
        Array.from({ length: 100 }, () => client.call('file_read', { path: 'hello.txt' })),
      );
      assert.ok(answers.every(({ ok }) => ok));
    });

    test('makes a batch, and gets its answer although the connection was cut', async () => {
      const name = hostStage.stage.name();
      const seen: string[] = [];
      const batch = client.batch(
        [
          { tool: 'shell_exec', args: { cmd: 'sh wait', cwd: name } },
          { tool: 'file_read', args: { path: 'hello.txt' } },
          { tool: 'file_read', args: { path: 'none.txt' } },
        ],
        { strategy: { type: 'ordered_batch', max_in_flight: 3 }, onEvent: ({ event }) => void seen.push(event) },
      );
      await eventually(() => seen.length > 0, 'news of the batch');
      proxy.cut();
      hostStage.stage.release(name);
      const answers = await batch;
      assert.deepEqual(
        answers.map((answer) => answer.type === 'ToolResponse' && answer.ok),
        [true, true, false],
      );
      assert.equal(hostStage.stage.runs(name), 1);
      const refused = client.batch([], { strategy: { type: 'sequential' } });
      await assert.rejects(refused, (error: Error) => error.message.startsWith('Invalid BatchRequest'));
    });

    test('gets the answer of a call whose connection was cut, and all that was printed meanwhile', async () => {
      const name = hostStage.stage.name();
      const chunks: string[] = [];
      const onEvent = ({ data }: EventMessage): void => void chunks.push(String(data?.['chunk'] ?? ''));
      const call = client.call(...waiting(name), { onEvent });
      for (let cut = 0; cut < 3; cut++) {
        const before = chunks.length;
        await eventually(() => chunks.length > before, 'news of the call');
        proxy.cut();
      }
      hostStage.stage.release(name);
      const { ok, data } = await call;
      assert.equal(ok, true);
      assert.equal(hostStage.stage.runs(name), 1);
      const stdout = (data as { stdout: string }).stdout;
      // Over HTTP the answer may overtake the last news, which is then dropped; what was sent has no gap.
      assert.equal(chunks.join(''), transport === 'ws' ? stdout : stdout.slice(0, chunks.join('').length));
    });

    test('cancels by its signal', async () => {
      const name = hostStage.stage.name();
      const controller = new AbortController();
      const onEvent = (): void => controller.abort();
      const { ok, errors } = await client.call(...waiting(name), { signal: controller.signal, onEvent });
      assert.deepEqual([ok, errors[0]?.details?.['reason']], [false, 'cancelled']);
    });

    test('repeats a call under one key with one effect', async () => {
      const name = hostStage.stage.name();
      hostStage.stage.release(name);
      const options = { idempotencyKey: `key-${transport}`, retry: { attempts: 3 } };
      const [first, second] = [
        await client.call(...waiting(name), options),
        await client.call(...waiting(name), options),
      ];
      assert.deepEqual([first.ok, second.ok, second.data], [true, true, first.data]);
      assert.equal(hostStage.stage.runs(name), 1);
    });

    test('opens a child that is a session like it, with less to do, across cut wires [S3-46]', async () => {
      const { stage, host } = hostStage;
      const name = stage.name();
      const child = await client.openChild({ agent_id: 'builder', tools: ['shell_exec', 'artifact_read'] });
      assert.deepEqual(
        [child.session.parent_session_id, child.session.agent_id, child.session.tools],
        [client.session.session_id, 'builder', ['artifact_read', 'shell_exec']],
      );
      const refused = await child.call('file_read', { path: 'hello.txt' });
      assert.equal(refused.errors[0]?.details?.['reason'], 'stripped');
      const news: EventMessage[] = [];
      const call = child.call(...waiting(name), { onEvent: (event) => void news.push(event) });
      await eventually(() => news.length > 0, 'news of the call');
      proxy.cut();
      stage.release(name);
      assert.equal((await call).ok, true);
      assert.equal(stage.runs(name), 1);
      const listed = await createHostClient({ url: host.url, token: client.session.token }).children(
        client.session.session_id,
      );
      assert.deepEqual(
        listed.map(({ session_id, agent_id }) => [session_id, agent_id]),
        [[child.session.session_id, 'builder']],
      );
      const { calls, errors } = await child.complete();
      assert.deepEqual([calls, errors], [2, 1]);
      await assert.rejects(child.call('shell_exec', { cmd: 'sh wait', cwd: name }));
      assert.equal((await client.call('file_read', { path: 'hello.txt' })).ok, true);
    });

    test('a child with children is not completed, and cancelled with them [S3-49]', async () => {
      const child = await client.openChild({ agent_id: 'parent' });
      const grandchild = await child.openChild({ agent_id: 'leaf', tools: ['file_read'] });
      await assert.rejects(child.complete(), { code: 'E_POLICY', message: /open children: leaf/ });
      assert.equal((await grandchild.call('file_read', { path: 'hello.txt' })).ok, true);
      assert.equal((await child.cancel()).calls, 1);
      const path = `/v1/sessions/${grandchild.session.session_id}`;
      assert.equal((await hostStage.host.request(path)).status, 404);
      await grandchild.close();
      const owned = await client.openChild({ agent_id: 'owned' });
      const reclaim = { kind: 'runtime_package', id: 'policy.child.reclaimable' } as const;
      await assert.rejects(owned.detach({ acknowledged_by: 'operator', reclaim }), { code: 'E_POLICY' });
      await owned.close();
    });

    test('ends its session when it is closed', async () => {
      const other = await connectToHost({ url: hostStage.host.url, token: TOKENS.caller, transport });
      const path = `/v1/sessions/${other.session.session_id}`;
      assert.equal((await hostStage.host.request(path)).status, 200);
      await other.close();
      assert.equal((await hostStage.host.request(path)).status, 404);
    });
  });
}
