import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { isRunId } from '../../contracts/external.ts';
import { checkToolName, createRunIds } from './run-ids.ts';

interface Vectors {
  readonly runIds: {
    readonly valid: readonly string[];
    readonly invalid: readonly string[];
    readonly formatted: readonly (readonly [ms: number, id: string])[];
  };
}
const { runIds }: Vectors = JSON.parse(
  readFileSync(new URL('../fixtures/protocol-vectors.json', import.meta.url), 'utf8'),
);

test('a run id is the time to the microsecond and a counter [S4-7]', () => {
  for (const [ms, id] of runIds.formatted) assert.equal(createRunIds(() => ms).next(), id);
  for (const id of runIds.valid) assert.ok(isRunId(id) && id.length === 34, id);
  for (const text of runIds.invalid) assert.equal(isRunId(text), false, text);
});

test('ids of one time count up and a later time starts over [S4-7]', () => {
  const times = [1000, 1000, 1000, 2000];
  const ids = createRunIds(() => times.shift() ?? 0);
  assert.deepEqual(
    [ids.next(), ids.next(), ids.next(), ids.next()].map((id) => id.slice(17)),
    ['01-000000Z-000000', '01-000000Z-000001', '01-000000Z-000002', '02-000000Z-000000'],
  );
});

test('ids never fall whatever the clock does [S4-7]', () => {
  const times = fc.array(fc.double({ min: 0, max: 1e13, noNaN: true }), { minLength: 2, maxLength: 200 });
  fc.assert(
    fc.property(times, (readings) => {
      const pending = [...readings];
      const ids = createRunIds(() => pending.shift() ?? 0);
      const made = readings.map(() => ids.next());
      assert.deepEqual(made, [...new Set(made)].sort());
      assert.ok(made.every(isRunId));
    }),
  );
});

test('a clock that steps back for an hour loses nothing [S4-7]', () => {
  let now = 1_736_937_000_000;
  const ids = createRunIds(() => now);
  const before = ids.next();
  now -= 3_600_000;
  const during = [ids.next(), ids.next()];
  now += 3_600_001;
  const all = [before, ...during, ids.next()];
  assert.deepEqual(all, [...all].sort());
  assert.equal(new Set(all).size, 4);
});

test('a counter that is full moves to the next microsecond instead of growing a digit [S4-7]', () => {
  const ids = createRunIds(() => 1000);
  let last = '';
  for (let count = 0; count < 1_000_000; count++) last = ids.next();
  assert.equal(last.slice(20), '000000Z-999999');
  const next = ids.next();
  assert.equal(next.slice(20), '000001Z-000000');
  assert.ok(next > last && isRunId(next));
});

test('a clock without a usable time is refused, not written [S4-7]', () => {
  for (const ms of [Number.NaN, -1, Date.UTC(10_000, 0, 1)]) {
    const ids = createRunIds(() => ms);
    assert.throws(
      () => ids.next(),
      (thrown) => isToolError(thrown) && thrown.code === 'E_INTERNAL',
      String(ms),
    );
  }
  assert.ok(isRunId(createRunIds(() => Date.UTC(10_000, 0, 1) - 1).next()));
});

interface VectorsToolNames {
  readonly toolNames: { readonly valid: readonly string[]; readonly invalid: readonly string[] };
}
const { toolNames }: VectorsToolNames = JSON.parse(
  readFileSync(new URL('../fixtures/protocol-vectors.json', import.meta.url), 'utf8'),
);

test('a tool name is a single harmless path part [S4-11]', () => {
  for (const name of toolNames.valid) assert.equal(checkToolName(name), name);
  for (const name of toolNames.invalid) {
    assert.throws(
      () => checkToolName(name),
      (thrown) => isToolError(thrown) && thrown.code === 'E_VALIDATION_FAIL',
      name,
    );
  }
});
