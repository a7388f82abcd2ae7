import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonValue } from '@tool-runtime/protocol';
import { firstDifference, nearestCall } from './compare-calls.ts';

const differs = (recorded: JsonValue, now: JsonValue) =>
  firstDifference({ tool: 't', args: recorded }, { tool: 't', args: now });

describe('compared calls', () => {
  test('are the same whatever the order of their keys', () => {
    assert.equal(differs({ a: 1, b: [{ c: null, d: 'x' }] }, { b: [{ d: 'x', c: null }], a: 1 }), undefined);
    assert.equal(firstDifference({ tool: 'a', args: {} }, { tool: 'b', args: {} })?.where, 'tool');
  });

  for (const [recorded, now, where] of [
    [{ a: 1 }, { a: 2 }, 'args.a'],
    [{ a: 1 }, { a: '1' }, 'args.a'],
    [{ a: 1 }, {}, 'args.a'],
    [{}, { a: undefined as never }, 'args.a'],
    [{ a: [1, 2] }, { a: [1] }, 'args.a[1]'],
    [{ a: [1] }, { a: { 0: 1 } }, 'args.a'],
    [{ a: { b: { c: 'x' } } }, { a: { b: { c: 'y' } } }, 'args.a.b.c'],
    [{}, { toString: 1 }, 'args.toString'],
    [null, {}, 'args'],
  ] as const) {
    test(`differ in ${where}: ${JSON.stringify(recorded)} and ${JSON.stringify(now)}`, () => {
      assert.equal(differs(recorded as JsonValue, now as JsonValue)?.where, where);
    });
  }

  test('match a mask with anything in its place, and the rest exactly', () => {
    for (const [recorded, now] of [
      ['a [redacted] b', 'a secret b'],
      ['[redacted]', 'anything'],
      ['[redacted] x [redacted]', '1 x 2'],
      ['a[redacted]', 'a[redacted]'],
    ] as const) {
      assert.equal(differs({ a: recorded }, { a: now }), undefined, now);
    }
    assert.equal(differs({ token: '[redacted]' }, { token: 5 }), undefined);
    for (const [recorded, now] of [
      ['a [redacted] b', 'a secret c'],
      ['a [redacted] b', 'x secret b'],
      ['ab[redacted]ba', 'aba'],
      ['[redacted] x [redacted]', '1 y 2'],
    ] as const) {
      assert.notEqual(differs({ a: recorded }, { a: now }), undefined, now);
    }
    assert.notEqual(differs({ token: '[redacted]' }, {}), undefined);
  });

  test('have a nearest one: the same tool first, then what they share', () => {
    const calls = [
      { tool: 'read', args: { path: 'a' } },
      { tool: 'write', args: { path: 'b', content: 'x' } },
      { tool: 'write', args: { path: 'a', content: 'x' } },
    ];
    assert.equal(nearestCall(calls, { tool: 'write', args: { path: 'a', content: 'y' } }), calls[2]);
    assert.equal(nearestCall(calls, { tool: 'stat', args: { path: 'a' } }), calls[0]);
    assert.equal(nearestCall(calls, { tool: 'stat', args: {} }), undefined);
  });
});
