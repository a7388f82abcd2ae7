import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ClientMessage, isToolError, type ServerMessage } from '@tool-runtime/protocol';
import { type Connection, createToolClient, reconnecting } from '@tool-runtime/protocol/client';
import fc from 'fast-check';
import { ModelHost } from './model-host.ts';

/** What happens to one message on its way, in either direction. */
type Fate = 'arrives' | 'lost' | 'arrives, then all breaks' | 'arrives late';

const fate = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Fate>('arrives') },
  { weight: 1, arbitrary: fc.constantFrom<Fate>('lost', 'arrives, then all breaks', 'arrives late') },
);

const soon = (turns: number, action: () => void): void => {
  if (turns === 0) action();
  else setImmediate(() => soon(turns - 1, action));
};

/** Connections to the model host on which every message meets the next fate of the list; then nothing goes wrong any more. */
function badNetwork(host: ModelHost, fates: readonly Fate[]) {
  const session = host.openSession();
  let used = 0;
  return (): Connection => {
    const inbox: ServerMessage[] = [];
    let wake = Promise.withResolvers<void>();
    let isBroken = false;
    const cut = (): void => {
      isBroken = true;
      wake.resolve();
    };
    function meet(deliver: () => void): void {
      const next = fates[used++] ?? 'arrives';
      if (next === 'arrives late') {
        // The connection breaks, and yet the bytes are already with the other side.
        soon(5, deliver);
        cut();
        return;
      }
      if (next !== 'lost') deliver();
      if (next !== 'arrives') cut();
    }
    const peer = host.connect((message) => {
      if (isBroken) return;
      meet(() => {
        inbox.push(message);
        wake.resolve();
      });
    }, session);
    return {
      async send(message: ClientMessage) {
        if (isBroken) throw new TypeError('broken');
        meet(() => peer.receive(message));
      },
      async *messages() {
        while (true) {
          const message = inbox.shift();
          if (message !== undefined) yield message;
          else if (isBroken) return;
          else {
            wake = Promise.withResolvers();
            await wake.promise;
          }
        }
      },
      close() {
        peer.leave();
        cut();
      },
    };
  };
}

/** Counts the terminal messages that get through to the reader of the connection. */
function counting(connection: Connection, terminals: Map<string, number>): Connection {
  return {
    send: (message) => connection.send(message),
    close: () => connection.close(),
    async *messages() {
      for await (const message of connection.messages()) {
        if ((message.type === 'ToolResponse' || message.type === 'ErrorMessage') && message.request_id !== null) {
          terminals.set(message.request_id, (terminals.get(message.request_id) ?? 0) + 1);
        }
        yield message;
      }
    },
  };
}

const plan = fc.record({
  fates: fc.array(fate, { maxLength: 60 }),
  calls: fc.array(fc.record({ isKeyed: fc.boolean(), delay: fc.nat(20) }), { minLength: 1, maxLength: 12 }),
  keptAnswers: fc.constantFrom(0, 1, 1000),
});

describe('a client on a network that breaks at random', () => {
  test('gives every call exactly one outcome and runs no effect twice [S0-10]', async () => {
    const seen = { resolved: 0, unknown: 0, drops: 0 };
    await fc.assert(
      fc.asyncProperty(plan, async ({ fates, calls, keptAnswers }) => {
        const host = new ModelHost({ keptAnswers });
        const terminals = new Map<string, number>();
        const onDrop = (): void => {
          seen.drops += 1;
        };
        const options = { minDelayMs: 0, maxDelayMs: 1, attempts: 1000, onDrop };
        const connection = counting(reconnecting(badNetwork(host, fates), options), terminals);
        const client = createToolClient(connection);
        const outcomes = await Promise.all(
          calls.map(async ({ isKeyed, delay }, index) => {
            await new Promise<void>((resolve) => soon(delay, resolve));
            const effect = `effect-${index}`;
            const key = isKeyed ? { idempotencyKey: `key-${index}` } : {};
            const outcome = await client.call('t', { effect }, key).then(
              ({ data, ok }) => ({ effect, isKeyed, ok, data }),
              (error: unknown) => ({ effect, isKeyed, error }),
            );
            return outcome;
          }),
        );
        for (const outcome of outcomes) {
          const runs = host.countOf(outcome.effect);
          if ('error' in outcome) {
            assert.ok(isToolError(outcome.error), String(outcome.error));
            assert.equal(outcome.error.details['reason'], 'outcome_unknown');
            assert.equal(outcome.isKeyed, false, 'a call with a key is repeated, not given up');
            assert.ok(runs <= 1, `${outcome.effect} ran ${runs} times`);
            seen.unknown += 1;
          } else {
            assert.deepEqual([outcome.ok, outcome.data], [true, { effect: outcome.effect }]);
            assert.equal(runs, 1, `${outcome.effect} ran ${runs} times`);
            seen.resolved += 1;
          }
        }
        assert.equal(terminals.size, calls.length);
        assert.deepEqual([...new Set(terminals.values())], [1]);
        await client.close();
      }),
      { numRuns: 400 },
    );
    // Otherwise the network was too good to prove anything.
    assert.ok(seen.drops > 100 && seen.resolved > 100 && seen.unknown > 0, JSON.stringify(seen));
  });
});
