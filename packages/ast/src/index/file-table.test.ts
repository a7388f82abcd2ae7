import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { callsOf, type FileCard, idsOf, namesOf } from './file-card.ts';
import { FileTable } from './file-table.ts';

const columns = fc.record({
  names: fc.array(fc.nat(40), { maxLength: 6 }),
  calls: fc.uniqueArray(fc.nat(40), { maxLength: 6 }),
});
const step = fc.record({ path: fc.constantFrom('a', 'b', 'c', 'd'), put: fc.option(columns) });

function card(path: string, { names, calls }: { names: number[]; calls: number[] }): FileCard {
  const ids = names.map((name) => name * 7);
  return {
    ...{ path, language: 'typescript', parser: 'p', sha256: '', crc: 0, skip: undefined, ticket: 0 },
    ...{ nodeCount: names.length, callCount: calls.length, problemCount: 0, generated: false, library: false },
    cells: Uint32Array.from([...names.map((name) => name % 3), ...names, ...ids, ...calls]),
    stamp: { size: 0, mtimeMs: 0, identity: '', settled: true },
    problemsBefore: undefined,
  };
}

/** Hints may name files too many: those that have it are what counts. */
function having(
  cards: readonly FileCard[] | undefined,
  read: (card: FileCard) => Uint32Array,
  key: number,
): string[] | undefined {
  return cards?.filter((one) => read(one).includes(key)).map(({ path }) => path);
}

test('a table finds every file that has an id, a name or a call, after any series of changes', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const table = new FileTable();
      const model = new Map<string, FileCard>();
      for (const { path, put } of steps) {
        if (put === null) assert.equal(table.remove(path), model.delete(path));
        else {
          model.set(path, card(path, put));
          table.put(card(path, put));
        }
      }
      for (const mark of [0, 1, 2]) {
        const marks = [...model.values()].flatMap(({ cells, nodeCount }) => [...cells.subarray(0, nodeCount)]);
        assert.equal(
          table.countMarks((one) => one === mark),
          marks.filter((one) => one === mark).length,
        );
      }
      const wanted = [...model.values()].sort((left, right) => (left.path < right.path ? -1 : 1));
      assert.deepEqual(
        table.sorted().map(({ path }) => path),
        wanted.map(({ path }) => path),
      );
      assert.equal(
        table.nodeCount,
        wanted.reduce((sum, one) => sum + one.nodeCount, 0),
      );
      for (let key = 0; key <= 40; key++) {
        assert.deepEqual(having(table.withId(key * 7), idsOf, key * 7), having(wanted, idsOf, key * 7));
        assert.deepEqual(having(table.withName(key), namesOf, key), having(wanted, namesOf, key));
        assert.deepEqual(having(table.withCall(key), callsOf, key), having(wanted, callsOf, key));
      }
    }),
  );
});

test('hints about what is gone are thrown away before they are many more than those that hold', () => {
  const table = new FileTable();
  for (let version = 0; version < 3_000; version++) {
    table.put(card('a', { names: [version, version + 1, 5], calls: [version] }));
    table.put(card(`b${version % 3}`, { names: [version], calls: [] }));
    if (version % 2 === 0) table.remove(`b${version % 3}`);
  }
  assert.ok(table.hintCount < 2 * 12 + 10_000 + 12, String(table.hintCount));
  assert.deepEqual(
    table.withName(5)?.map(({ path }) => path),
    ['a'],
  );
  assert.deepEqual(
    table.withName(2_999)?.map(({ path }) => path),
    ['a', 'b2'],
  );
});

test('ten thousand keys in a hundred files are found again', () => {
  const table = new FileTable();
  const namesIn = (file: number) => Array.from({ length: 100 }, (_, at) => file * 100 + at);
  for (let file = 0; file < 100; file++) table.put(card(`f${file}`, { names: namesIn(file), calls: [file] }));
  for (let name = 0; name < 10_000; name++) {
    assert.deepEqual(
      table.withName(name)?.map(({ path }) => path),
      [`f${Math.floor(name / 100)}`],
    );
  }
});
