/**
 * A session that makes many calls holds on to nothing for each of them: counted are the objects that are alive after a
 * collection, not the size of the process, which says more about the collector than about us.
 */
import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { getHeapSnapshot } from 'node:v8';
import type { JsonObject } from '@tool-runtime/protocol';
import { openScratchRuntime } from '../src/testing/scratch-runtime.ts';

const WARM_UP = Number(process.env['FLAT_WARM_UP'] ?? 1000);
const CALLS = Number(process.env['FLAT_CALLS'] ?? 2000);
const SESSIONS = 120;
const ROUNDS = 6;
/** One object or text retained by each call would be four times as many. */
const MOST_PER_CALL = 0.25;
const COUNTED = new Set(['object', 'array', 'closure', 'native', 'string', 'concatenated string', 'sliced string']);

interface Snapshot {
  readonly snapshot: {
    readonly meta: { readonly node_fields: readonly string[]; readonly node_types: readonly [string[]] };
  };
  readonly nodes: readonly number[];
}

/** How many objects, texts and functions are alive; compiled code, which grows for a while, is not among them. */
async function countAlive(): Promise<number> {
  const { snapshot, nodes } = JSON.parse(await text(getHeapSnapshot())) as Snapshot;
  const { node_fields, node_types } = snapshot.meta;
  const width = node_fields.length;
  const at = node_fields.indexOf('type');
  let count = 0;
  for (let node = at; node < nodes.length; node += width) {
    if (COUNTED.has(node_types[0][nodes[node] ?? -1] ?? '')) count += 1;
  }
  return count;
}

const CALLS_IN_TURN: readonly ((at: number) => readonly [string, JsonObject])[] = [
  (at) => ['file_write', { path: `d${at % 7}/f${at % 50}.txt`, content: `${at}\n`, create_dirs: true }],
  (at) => ['file_read', { path: `d${at % 7}/f${at % 50}.txt` }],
  () => ['fs_list', { glob: 'd1/*' }],
  (at) => ['file_read', { path: `missing-${at}.txt` }],
  (at) => ['file_write', { path: '../outside.txt', content: `${at}` }],
  (at) => [`no_such_tool_${at}`, {}],
  (at) => ['file_append', { path: 'log.txt', content: `${at % 10}` }],
];

async function makeCalls(session: Awaited<ReturnType<typeof openScratchRuntime>>['session'], from: number, to: number) {
  for (let at = from; at < to; at++) {
    const [tool, args] = CALLS_IN_TURN[at % CALLS_IN_TURN.length]?.(Math.floor(at / CALLS_IN_TURN.length)) ?? ['', {}];
    await session.call(tool, args, at % 11 === 0 ? { idempotencyKey: `key-${at}` } : {});
  }
}

/**
 * How many more are alive after a round, in the round with the fewest: what each round retains shows in all of them,
 * what is loaded or remembered once shows in one. Stops at the first round that is below `limit`.
 */
async function leastGrowth(t: TestContext, limit: number, round: (at: number) => Promise<void>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  let before = await countAlive();
  for (let at = 0; at < ROUNDS && least >= limit; at++) {
    await round(at);
    const alive = await countAlive();
    t.diagnostic(`${alive - before} more after round ${at + 1}`);
    least = Math.min(least, alive - before);
    before = alive;
  }
  return least;
}

test('the calls of a session leave no object behind', async (t) => {
  const { session, dispose } = await openScratchRuntime();
  t.after(dispose);
  await makeCalls(session, 0, WARM_UP);
  const limit = CALLS * MOST_PER_CALL;
  const more = await leastGrowth(t, limit, (at) =>
    makeCalls(session, WARM_UP + at * CALLS, WARM_UP + (at + 1) * CALLS),
  );
  assert.ok(more < limit, `${more} more objects and texts after ${CALLS} calls`);
});

test('sessions that were closed leave no object behind', async (t) => {
  const { runtime, dispose } = await openScratchRuntime();
  t.after(dispose);
  const openAndClose = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at++) {
      const session = await runtime.openSession({ actor: `actor-${at}` });
      await makeCalls(session, 0, 3);
      await session.close();
    }
  };
  await openAndClose(60);
  const more = await leastGrowth(t, SESSIONS, () => openAndClose(SESSIONS));
  assert.ok(more < SESSIONS, `${more} more objects and texts after ${SESSIONS} sessions`);
});

test('rounds that retain objects are noticed', async (t) => {
  const retained: object[] = [];
  const more = await leastGrowth(t, 1000, async () => {
    for (let at = 0; at < 2000; at++) retained.push({ at });
  });
  assert.ok(more >= 1000, `${more} more`);
  assert.equal(retained.length, 2000 * ROUNDS);
});
