/** The typed client as programs use it: from an address and a token to calls, across cut wires. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { connectToHost, type EventMessage, type HostSession } from '@tool-runtime/protocol';
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
      // Over HTTP the answer may overtake the last news, which then nobody waits for; what was told has no gap.
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

    test('ends its session when it is closed', async () => {
      const other = await connectToHost({ url: hostStage.host.url, token: TOKENS.caller, transport });
      const path = `/v1/sessions/${other.session.session_id}`;
      assert.equal((await hostStage.host.request(path)).status, 200);
      await other.close();
      assert.equal((await hostStage.host.request(path)).status, 404);
    });
  });
}
