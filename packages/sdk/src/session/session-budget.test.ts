/** Budgets of families: whatever parents and children do, none uses more than was given to it or its ancestors. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { budgetPortSuite } from '../testing/budget-suite.ts';
import { type CarvedBudget, createSessionBudget, type SessionBudget } from './session-budget.ts';

const REQUEST = { sessionId: 's', callId: 'c', tool: 't' };
const refused = (work: () => unknown) => assert.throws(work, { code: 'E_POLICY' });

function calls(budget: SessionBudget): number {
  let made = 0;
  for (;;) {
    try {
      budget.reserve(REQUEST);
      made += 1;
    } catch {
      return made;
    }
  }
}

describe('budgets [S0-75 S3-28]', () => {
  test('a session makes as many calls as it was given [S0-75]', () => {
    assert.equal(calls(createSessionBudget({ max_calls: 3 })), 3);
  });

  test('bytes and time count when a call is over [S0-75]', () => {
    const budget = createSessionBudget({ max_bytes: 10, max_duration_ms: 100 });
    budget.reserve(REQUEST);
    budget.spend(REQUEST, { bytes: 10, durationMs: 1 });
    refused(() => budget.reserve(REQUEST));
    const timed = createSessionBudget({ max_bytes: 10, max_duration_ms: 100 });
    timed.spend(REQUEST, { bytes: 1, durationMs: 99 });
    timed.reserve(REQUEST);
    timed.spend(REQUEST, { bytes: 1, durationMs: 1 });
    refused(() => timed.reserve(REQUEST));
  });

  test('the state of a budget counts what children used, and names only limits of its own', () => {
    const parent = createSessionBudget({ max_calls: 10, max_bytes: 100 });
    const child = parent.carve({ max_calls: 4 });
    parent.reserve(REQUEST);
    child.reserve(REQUEST);
    child.spend(REQUEST, { bytes: 7, durationMs: 5 });
    assert.deepEqual(parent.state(), { max_calls: { used: 2, given: 10 }, max_bytes: { used: 7, given: 100 } });
    assert.deepEqual(child.state(), { max_calls: { used: 1, given: 4 } });
    assert.deepEqual(createSessionBudget({}).state(), {});
  });

  test('who gave a share back can no longer use it, nor can the children below [S3-49]', () => {
    const parent = createSessionBudget({ max_calls: 10 });
    const child = parent.carve({ max_calls: 4 });
    child.reserve(REQUEST);
    child.release();
    refused(() => child.reserve(REQUEST));
    refused(() => child.carve({ max_calls: 1 }));
    parent.reserve(REQUEST);
  });

  test('a child gets its share, the parent keeps the rest and gets back what was not used [S3-28]', () => {
    const parent = createSessionBudget({ max_calls: 10 });
    const child = parent.carve({ max_calls: 4 });
    child.reserve(REQUEST);
    assert.equal(calls(parent), 6, 'four are held back');
    assert.equal(calls(child), 3, 'the share is the child’s');
    child.release();
    assert.equal(calls(parent), 0, 'all were used');
    const other = createSessionBudget({ max_calls: 10 });
    const frugal = other.carve({ max_calls: 4 });
    frugal.reserve(REQUEST);
    frugal.release();
    frugal.release();
    assert.equal(calls(other), 9);
  });

  test('a child cannot be given more than is left [S3-28]', () => {
    const parent = createSessionBudget({ max_calls: 4, max_bytes: 100 });
    parent.carve({ max_calls: 3 });
    refused(() => parent.carve({ max_calls: 2 }));
    refused(() => parent.carve({ max_bytes: 101 }));
    parent.carve({ max_calls: 1, max_bytes: 100 });
  });

  test('without a share a child draws on the parent’s [S3-28]', () => {
    const parent = createSessionBudget({ max_calls: 3 });
    const grandchild = parent.carve({}).carve({});
    grandchild.reserve(REQUEST);
    assert.equal(calls(parent), 2);
    refused(() => grandchild.reserve(REQUEST));
  });

  test('a grandchild’s share is held by the session that has the limit [S3-28]', () => {
    const parent = createSessionBudget({ max_calls: 5 });
    const grandchild = parent.carve({}).carve({ max_calls: 2 });
    assert.equal(calls(parent), 3);
    assert.equal(calls(grandchild), 2);
  });

  test('a child that outlives its parent keeps to the limits of both [S3-49]', () => {
    const eldest = createSessionBudget({ max_calls: 10 });
    const parent = eldest.carve({ max_calls: 4 });
    const child = parent.carve({});
    parent.release();
    assert.equal(calls(child), 4);
    child.release();
    assert.equal(calls(eldest), 6);
  });

  test('no family of any shape makes more calls than its eldest was given [S3-28]', () => {
    const step = fc.record({ who: fc.nat(20), what: fc.constantFrom('call', 'carve', 'release'), share: fc.nat(6) });
    fc.assert(
      fc.property(fc.nat(20), fc.array(step, { maxLength: 80 }), (limit, steps) => {
        const eldest = createSessionBudget({ max_calls: limit });
        const members: { budget: SessionBudget; given: number | undefined; made: number }[] = [
          { budget: eldest, given: limit, made: 0 },
        ];
        let total = 0;
        for (const { who, what, share } of steps) {
          const member = members[who % members.length];
          if (member === undefined) continue;
          try {
            if (what === 'call') {
              member.budget.reserve(REQUEST);
              member.made += 1;
              total += 1;
            } else if (what === 'carve') {
              const given = share === 6 ? undefined : share;
              const budget = member.budget.carve(given === undefined ? {} : { max_calls: given });
              members.push({ budget, given, made: 0 });
            } else if (member.budget !== eldest) (member.budget as CarvedBudget).release();
          } catch (thrown) {
            assert.equal((thrown as { code?: string }).code, 'E_POLICY');
          }
          assert.ok(total <= limit, `${total} of ${limit}`);
          for (const { given, made } of members) assert.ok(given === undefined || made <= given);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

budgetPortSuite('the budget of a family', async (_, calls) => {
  const budget = createSessionBudget({ max_calls: calls });
  const first = budget.carve({});
  return { first, second: budget.carve({}), leave: async () => first.release() };
});
