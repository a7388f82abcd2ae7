import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CallPage, CallRow } from '@tool-runtime/protocol';
import { type CallNews, CallRows } from './call-rows.ts';

/** The `index`th call, of two records. */
function call(index: number, more: Partial<CallRow> = {}): CallRow {
  const seq = index * 2 + 1;
  return {
    ...{ call_id: `c${index}`, session_id: 's', request_id: 'r', tool: 'grep', actor: 'a', client: 'c', summary: '' },
    ...{ at_ms: index, decision: 'allow', status: 'completed', stages: [], first_seq: seq, last_seq: seq + 1 },
    ...more,
  };
}

const many = (from: number, to: number): CallRow[] => Array.from({ length: to - from }, (_, at) => call(from + at));
const page = (calls: CallRow[]): CallPage => ({
  workspace: 'w',
  calls: calls.toReversed(),
  total: calls.length,
  head: calls.at(-1)?.last_seq ?? 0,
  is_complete: true,
});
const news = (calls: CallRow[], more: Partial<CallNews> = {}): CallNews => ({
  ...{ workspace: 'w', after: 0, head: calls.at(-1)?.last_seq ?? 0, calls, is_complete: true, left_out: 0 },
  ...more,
});
const ids = (rows: CallRows): string =>
  rows
    .list(0)
    .calls.map(({ call_id }) => call_id)
    .join(' ');
const running = (index: number): CallRow => call(index, { status: 'running', last_seq: index * 2 + 1 });

describe('CallRows', () => {
  test('new calls come first and are counted once; older news change nothing', () => {
    const rows = new CallRows(() => true, false);
    rows.begin(page(many(0, 2)));
    assert.equal(rows.take(news([running(2)])), 'same');
    assert.equal(rows.take(news([call(2), call(3)])), 'same');
    assert.equal(rows.take(news([running(2), call(0, { status: 'failed' })])), 'same');
    assert.equal(ids(rows), 'c3 c2 c1 c0');
    assert.deepEqual(
      rows.list(0).calls.map(({ status }) => status),
      new Array(4).fill('completed'),
    );
    assert.equal(rows.list(0).total, 4);
    assert.equal(rows.list(2).calls.length, 2);
    rows.take(news([call(9)], { workspace: 'other' }));
    assert.equal(rows.list(0).total, 4);
  });

  test('a call that no longer matches leaves the list and the count, and comes back', () => {
    const rows = new CallRows(({ status }) => status === 'running', true);
    rows.begin(page([]));
    rows.take(news([running(0), running(1)]));
    assert.deepEqual([ids(rows), rows.list(0).total], ['c1 c0', 2]);
    rows.take(news([call(0)]));
    assert.deepEqual([ids(rows), rows.list(0).total], ['c1', 1]);
  });

  test('after too much the list is whole again when the newest calls are told, except under a filter', () => {
    for (const isFiltered of [false, true]) {
      const rows = new CallRows(() => true, isFiltered);
      rows.begin(page(many(0, 10)));
      assert.equal(rows.take(news(many(500, 600), { left_out: 980, is_complete: false })), 'stale');
      assert.deepEqual([rows.list(0).leftOut, rows.list(0).isAtLeast], [980, true]);
      const state = rows.take(news(many(700, 1000), { is_complete: false }));
      assert.equal(state, isFiltered ? 'stale' : 'whole');
      assert.equal(rows.list(0).calls.length, 300);
      assert.equal(rows.list(0).calls[0]?.call_id, 'c999');
      assert.equal(rows.list(0).leftOut, isFiltered ? 980 : 0);
      assert.equal(rows.list(0).isAtLeast, true);
    }
  });

  test('calls that are not known make the list stale', () => {
    const rows = new CallRows(() => true, false);
    rows.begin(page(many(0, 2)));
    assert.equal(rows.take(news([], { is_complete: false, head: 9 })), 'stale');
  });
});
