/** What every BudgetPort with a number of calls must do, in one process and across hosts. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import type { BudgetPort } from '../contracts/policy.ts';

/** Two takers of one budget: two sessions, or two hosts. */
export interface BudgetPair {
  readonly first: BudgetPort;
  readonly second: BudgetPort;
  /** The first taker leaves in order, and what it holds may be used by the other. */
  leave(): Promise<void>;
}

export function budgetPortSuite(name: string, open: (t: TestContext, calls: number) => Promise<BudgetPair>): void {
  describe(`${name} as BudgetPort`, { concurrency: true }, () => {
    test('of many takers as many get through as the budget has calls', async (t) => {
      const { first, second } = await open(t, 25);
      const taken = await Promise.all(Array.from({ length: 80 }, (_, at) => take(at % 2 === 0 ? first : second, at)));
      assert.equal(taken.filter(Boolean).length, 25);
      assert.deepEqual([await take(first, 80), await take(second, 81)], [false, false]);
    });

    test('what a taker leaves unused is there for the next, and what it used is not', async (t) => {
      const { first, second, leave } = await open(t, 10);
      assert.equal(await take(first, 0), true);
      await leave();
      const taken: boolean[] = [];
      for (let at = 1; at <= 12; at++) taken.push(await take(second, at));
      assert.equal(taken.filter(Boolean).length, 9);
    });
  });
}

/** False for a refusal; any other error is one. */
async function take(budget: BudgetPort, at: number): Promise<boolean> {
  const request = { sessionId: 's', callId: `call-${at}`, tool: 'file_read' };
  try {
    await budget.reserve(request);
  } catch (error) {
    assert.ok(isToolError(error) && error.code === 'E_POLICY', String(error));
    assert.deepEqual([error.details['gate'], error.details['reason']], ['budget', 'budget_spent']);
    return false;
  }
  budget.spend(request, { bytes: 1, durationMs: 1 });
  return true;
}
