/** What one session may use, from the registry: calls, bytes, time. Counted here, refused before anything runs. */
import { ToolError } from '@tool-runtime/protocol';
import type { BudgetPort } from '../contracts/policy.ts';
import type { Budgets } from '../contracts/registry.ts';

export function createSessionBudget(limits: Budgets): BudgetPort {
  const used = { calls: 0, bytes: 0, durationMs: 0 };
  return {
    reserve() {
      refuseWhenSpent('max_calls', used.calls, limits.max_calls);
      refuseWhenSpent('max_bytes', used.bytes, limits.max_bytes);
      refuseWhenSpent('max_duration_ms', used.durationMs, limits.max_duration_ms);
      used.calls += 1;
    },
    spend(_request, spent) {
      used.bytes += spent.bytes;
      used.durationMs += spent.durationMs;
    },
  };
}

function refuseWhenSpent(name: keyof Budgets, used: number, limit: number | undefined): void {
  if (limit === undefined || used < limit) return;
  throw new ToolError('E_POLICY', `Budget of the session is used up: ${name} ${limit}`, {
    details: { gate: 'budget', reason: 'budget_spent', field: `budgets.${name}`, next: 'open a new session' },
  });
}
