import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nothing, openScratchRuntime } from '@tool-runtime/sdk/testing';
import { followCalls } from './live-calls.ts';
import { createPageReader } from './read-pages.ts';
import { createRecordIndex } from './record-index.ts';

async function open() {
  const scratch = await openScratchRuntime({ tools: [nothing] });
  const index = createRecordIndex({ runtime: () => scratch.runtime, archived: false });
  const pages = createPageReader(index, 'w');
  return {
    ...scratch,
    async page() {
      await index.catchUp();
      return pages.calls({ filter: {}, offset: 0, limit: 500, head: undefined, facets: false }).calls;
    },
    follow: () => followCalls({ name: 'w', runtime: scratch.runtime }),
  };
}

describe('followCalls', () => {
  test('tells of the calls since the last look, as the page of calls has them', async () => {
    const { session, runtime, page, follow } = await open();
    await session.call('probe_nothing', {});
    const live = follow();
    assert.equal(live.look(), undefined);
    await session.call('probe_nothing', {});
    await session.call('no_such_tool', {});
    const news = live.look();
    assert.deepEqual(news?.calls.toReversed(), (await page()).slice(0, 2));
    assert.deepEqual([news?.is_complete, news?.left_out, news?.head], [true, 0, runtime.head().seq]);
    assert.equal(live.look(), undefined);
    await runtime.close();
  });

  test('reads a bounded part of the journal, counts what it passes over, and tells the newest calls when it is quieter', async () => {
    const { session, runtime, page, follow } = await open();
    const live = follow();
    const before = runtime.head().seq;
    for (let at = 0; at < 150; at += 1) await session.call('probe_nothing', {});
    const news = live.look();
    assert.equal(news?.is_complete, false);
    assert.equal(news?.left_out, runtime.head().seq - before - 512);
    const all = await page();
    assert.deepEqual(news?.calls.toReversed(), all.slice(0, news?.calls.length));
    const back = live.look();
    assert.deepEqual(back?.calls.toReversed(), all);
    assert.deepEqual([back?.is_complete, back?.left_out, back?.head], [true, 0, news?.head]);
    assert.equal(live.look(), undefined);
    await session.call('probe_nothing', {});
    assert.equal(live.look()?.is_complete, true);
    await runtime.close();
  });

  test('tells all calls that began after the record it names', async () => {
    const { session, runtime, page, follow } = await open();
    const live = follow();
    for (let at = 0; at < 330; at += 1) await session.call('probe_nothing', {});
    assert.ok((live.look()?.left_out ?? 0) > 0);
    const back = live.look();
    assert.deepEqual([back?.calls.length, back?.is_complete], [300, false]);
    const since = (await page()).filter(({ first_seq }) => first_seq > (back?.after ?? 0));
    assert.deepEqual(back?.calls.toReversed(), since);
    await runtime.close();
  });

  test('says that it does not know calls that began before it', async () => {
    const { session, runtime } = await open();
    await session.call('probe_nothing', {});
    const end = runtime.head();
    const shown = { seq: end.seq - 1 };
    const partly = { records: runtime.records, head: () => ({ ...end, ...shown }) };
    const live = followCalls({ name: 'w', runtime: partly });
    shown.seq = end.seq;
    const news = live.look();
    assert.deepEqual([news?.calls, news?.is_complete, news?.left_out], [[], false, 0]);
    await runtime.close();
  });
});
