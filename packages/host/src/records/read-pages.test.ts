import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nothing, openScratchRuntime } from '@tool-runtime/sdk/testing';
import { exportRows } from './export-records.ts';
import { createPageReader } from './read-pages.ts';
import { createRecordIndex } from './record-index.ts';

const ORDER = { filter: {}, offset: 0, limit: 100, head: undefined, facets: false };

/** Three calls that succeed and one that is refused, read through an index. */
async function openIndex(maxRows?: number) {
  const scratch = await openScratchRuntime({ tools: [nothing] });
  const index = createRecordIndex({
    runtime: () => scratch.runtime,
    archived: false,
    ...(maxRows === undefined ? {} : { maxRows }),
  });
  for (let at = 0; at < 3; at += 1) await scratch.session.call('probe_nothing', {});
  await scratch.session.call('no_such_tool', {});
  await index.catchUpRows();
  return { ...scratch, index, pages: createPageReader(index, 'w') };
}

describe('createPageReader', () => {
  test('pages are newest first and stay in place while the journal grows', async () => {
    const { session, index, pages, runtime } = await openIndex();
    const first = pages.records({ ...ORDER, limit: 3 });
    assert.deepEqual(
      first.records.map(({ seq }) => seq),
      [first.head, first.head - 1, first.head - 2],
    );
    await session.call('probe_nothing', {});
    await index.catchUpRows();
    const second = pages.records({ ...ORDER, offset: 3, limit: 3, head: first.head });
    assert.equal(second.records[0]?.seq, first.head - 3);
    assert.equal(second.total, first.total);
    assert.ok(pages.records(ORDER).total > first.total);
    await runtime.close();
  });

  test('filters by field and words, and counts values of a field without its own choice', async () => {
    const { pages, runtime } = await openIndex();
    const denied = pages.records({ ...ORDER, filter: { decision: 'deny' }, facets: true });
    assert.equal(denied.total, 1);
    assert.deepEqual(denied.facets?.['decision'], [
      { value: 'allow', count: 3 },
      { value: 'deny', count: 1 },
    ]);
    assert.deepEqual(denied.facets?.['tool'], [{ value: 'no_such_tool', count: 1 }]);
    assert.equal(pages.records({ ...ORDER, filter: { text: 'NO_SUCH' } }).total > 0, true);
    assert.equal(
      pages.records({ ...ORDER, filter: { tool: 'probe_nothing,no_such_tool', kind: 'requested' } }).total,
      4,
    );
    assert.equal(pages.records({ ...ORDER, filter: { from: Date.now() + 60_000 } }).total, 0);
    await runtime.close();
  });

  test('calls say how they were decided and how they ended', async () => {
    const { pages, runtime } = await openIndex();
    const { calls } = pages.calls({ ...ORDER, facets: true });
    assert.deepEqual(
      calls.map(({ tool, decision, status }) => [tool, decision, status]),
      [
        ['no_such_tool', 'deny', 'denied_before_execution'],
        ...new Array(3).fill(['probe_nothing', 'allow', 'completed']),
      ],
    );
    assert.ok(calls.every((call) => !('count' in call)));
    const stages = calls.map((call) => call.stages.map(({ stage }) => stage));
    assert.deepEqual(stages, [['gates'], ...new Array(3).fill(['gates', 'run'])]);
    await runtime.close();
  });

  test('what is kept is bounded, and pages say that older rows are left out', async () => {
    const { pages, runtime } = await openIndex(4);
    const { records, total, head, is_complete } = pages.records(ORDER);
    assert.equal(is_complete, false);
    assert.ok(total <= 5, `${total} rows`);
    assert.equal(records[0]?.seq, head);
    assert.equal(
      pages.calls(ORDER).calls.every(({ last_seq }) => last_seq >= (records.at(-1)?.seq ?? 0)),
      true,
    );
    await runtime.close();
  });

  test('exports exactly what matches; a spreadsheet sees no formulas', async () => {
    const { pages, runtime } = await openIndex();
    const rows = pages.matching({ kind: 'requested' });
    assert.equal([...exportRows(rows, 'jsonl', '1')].join('').trim().split('\n').length, rows.length);
    const [row] = rows;
    assert.ok(row !== undefined);
    const csv = [...exportRows([{ ...row, text: '=1+1, "x"' }], 'csv', '1')].join('');
    assert.match(csv, /,"'=1\+1, ""x"""\r\n$/);
    const sarif = JSON.parse([...exportRows(pages.matching({}), 'sarif', '1')].join('')) as {
      runs: { results: unknown[] }[];
    };
    assert.equal(sarif.runs[0]?.results.length, 1);
    await runtime.close();
  });
});
