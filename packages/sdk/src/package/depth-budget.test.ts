import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkChildStart, childBudget, type DepthBudget, depthBudget } from './depth-budget.ts';

const refusal = (field: string) => (thrown: unknown) => {
  const { code, details } = thrown as { code: string; details: Record<string, unknown> };
  assert.deepEqual([code, details['kind'], details['field']], ['E_VALIDATION_FAIL', 'invalid_state_transition', field]);
  return true;
};
const DEPTH = 'depth_budget.max_depth';
const CHILDREN = 'depth_budget.max_children';

describe('depthBudget', () => {
  test('starts unused, with one child [S3-25]', () => {
    assert.deepEqual(depthBudget(3), { current_depth: 0, max_depth: 3, max_children: 1 });
    assert.deepEqual(depthBudget(0), { current_depth: 0, max_depth: 0, max_children: 1 });
    assert.throws(() => Object.assign(depthBudget(3), { max_depth: 4 }), TypeError);
  });

  test('refuses what is not a count, in whatever place [S3-25]', () => {
    for (const bad of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, '2' as unknown as number]) {
      assert.throws(() => depthBudget(bad), refusal(DEPTH));
      for (const field of ['current_depth', 'max_depth', 'max_children'] as const) {
        const budget: DepthBudget = { ...depthBudget(2), [field]: bad };
        assert.throws(() => checkChildStart(budget, 0), refusal(`depth_budget.${field}`));
        assert.throws(() => childBudget(budget), refusal(`depth_budget.${field}`));
      }
      assert.throws(() => checkChildStart(depthBudget(2), bad), refusal('children_started'));
    }
  });
});

describe('checkChildStart', () => {
  test('refuses at a depth of zero and at the last depth [S3-26]', () => {
    checkChildStart(depthBudget(1), 0);
    assert.throws(() => checkChildStart(depthBudget(0), 0), refusal(DEPTH));
    for (const current_depth of [2, 3]) {
      assert.throws(() => checkChildStart({ ...depthBudget(2), current_depth }, 0), refusal(DEPTH));
    }
    checkChildStart({ ...depthBudget(2), current_depth: 1 }, 0);
  });

  test('refuses for want of children with a refusal of its own, after that of the depth [S3-26]', () => {
    assert.throws(() => checkChildStart({ ...depthBudget(2), max_children: 0 }, 0), refusal(CHILDREN));
    assert.throws(() => checkChildStart({ ...depthBudget(0), max_children: 0 }, 0), refusal(DEPTH));
  });

  test('lets exactly max_children start [S3-28]', () => {
    const budget = { ...depthBudget(1), max_children: 3 };
    for (const started of [0, 1, 2]) checkChildStart(budget, started);
    for (const started of [3, 4]) assert.throws(() => checkChildStart(budget, started), refusal(CHILDREN));
  });
});

describe('childBudget', () => {
  test('is one deeper and otherwise the same [S3-27]', () => {
    const budget = Object.freeze({ current_depth: 1, max_depth: 4, max_children: 7 });
    assert.deepEqual(childBudget(budget), { current_depth: 2, max_depth: 4, max_children: 7 });
  });

  test('a child that enforces what it was given ends the line at max_depth [S3-28]', () => {
    let budget = depthBudget(3);
    for (let generation = 1; generation <= 3; generation++) {
      checkChildStart(budget, 0);
      assert.throws(() => checkChildStart(budget, 1), refusal(CHILDREN));
      budget = childBudget(budget);
      assert.equal(budget.current_depth, generation);
    }
    assert.throws(() => checkChildStart(budget, 0), refusal(DEPTH));
  });
});
