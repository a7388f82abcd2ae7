/** `budgets`: what one session may use up. */
import { z } from 'zod';
import type { Budgets } from '../../contracts/registry.ts';
import { isWithin, type Narrowing } from '../narrowing.ts';
import { defineSection } from '../section.ts';

const schema = z.strictObject({
  max_calls: z.int().min(0).exactOptional().describe('Calls in one session'),
  max_bytes: z.int().min(0).exactOptional().describe('Bytes read and written in one session'),
  max_duration_ms: z.int().min(0).exactOptional().describe('Summed run time of one session'),
});

export const budgets = defineSection({
  keys: { budgets: schema.prefault({}).describe('What one session may use up; left out: no budget') },
  build: (written) => ({ budgets: written.budgets as Budgets }),
  narrow: (narrowing) => ({ budgets: narrowBudgets(narrowing) }),
});

function narrowBudgets(narrowing: Narrowing): Budgets {
  const result: Record<string, number> = {};
  for (const key of ['max_calls', 'max_bytes', 'max_duration_ms'] as const) {
    const [own, given] = [narrowing.session.budgets[key], narrowing.host.budgets[key]];
    const limit = given ?? Number.POSITIVE_INFINITY;
    const value = isWithin(narrowing, { path: `budgets.${key}`, own, limit }) ? own : given;
    if (value !== undefined) result[key] = value;
  }
  return result;
}
