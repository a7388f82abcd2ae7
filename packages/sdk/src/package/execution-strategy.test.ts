import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { DEFAULT_STRATEGY, parseStrategy, type ToolExecutionStrategy } from './execution-strategy.ts';

test('is sequential by default [S1-31]', () => {
  assert.deepEqual(DEFAULT_STRATEGY, { type: 'sequential' });
  for (const value of [undefined, 'sequential', { type: 'sequential' }]) {
    assert.deepEqual(parseStrategy(value), { type: 'sequential' });
  }
});

test('every strategy survives JSON, and the nested form reads the same [S1-31]', () => {
  const strategy = fc.record(
    {
      type: fc.constantFrom('bounded_concurrent' as const, 'ordered_batch' as const),
      max_in_flight: fc.integer({ min: 1 }),
    },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(strategy, (value: ToolExecutionStrategy & { max_in_flight: number }) => {
      assert.deepEqual(parseStrategy(JSON.parse(JSON.stringify(value))), value);
      assert.deepEqual(parseStrategy({ [value.type]: { max_in_flight: value.max_in_flight } }), value);
    }),
  );
});

test('refuses a limit that is zero, negative, broken or missing [S1-32]', () => {
  for (const type of ['bounded_concurrent', 'ordered_batch']) {
    parseStrategy({ type, max_in_flight: 1 });
    for (const max_in_flight of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '4', null, undefined]) {
      for (const value of [{ type, max_in_flight }, { [type]: { max_in_flight } }]) {
        assert.throws(
          () => parseStrategy(value),
          (thrown) => isToolError(thrown) && thrown.details['kind'] === 'invalid_state_transition',
        );
      }
    }
  }
});

test('refuses any other value as a contract violation [S1-31]', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      fc.pre(value !== 'sequential');
      assert.throws(() => parseStrategy(value), isToolError);
    }),
  );
});
