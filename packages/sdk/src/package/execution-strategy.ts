/**
 * How the calls of one batch may overlap. `ordered_batch` releases answers in request order, `bounded_concurrent` as
 * they come.
 */
import { contractViolation } from '../contracts/failures.ts';

export type ToolExecutionStrategy =
  | { readonly type: 'sequential' }
  | { readonly type: 'bounded_concurrent'; readonly max_in_flight: number }
  | { readonly type: 'ordered_batch'; readonly max_in_flight: number };

export const DEFAULT_STRATEGY: ToolExecutionStrategy = Object.freeze({ type: 'sequential' });

/**
 * Reads `{ type, max_in_flight }`, and the forms `"sequential"` and `{ "ordered_batch": { "max_in_flight": 4 } }`.
 * Absent means sequential. Throws a contract violation for anything else, zero in flight included.
 */
export function parseStrategy(value: unknown): ToolExecutionStrategy {
  if (value === undefined) return DEFAULT_STRATEGY;
  const { type, limit } = taken(value);
  if (type === 'sequential') return DEFAULT_STRATEGY;
  if (type !== 'bounded_concurrent' && type !== 'ordered_batch') {
    throw contractViolation('Execution strategy is not known: strategy.type', { field: 'strategy.type' });
  }
  if (typeof limit !== 'number' || !Number.isSafeInteger(limit) || limit < 1) {
    const field = 'strategy.max_in_flight';
    throw contractViolation(`Limit is not a whole number above zero: ${field}`, { field });
  }
  return { type, max_in_flight: limit };
}

function taken(value: unknown): { readonly type: unknown; readonly limit: unknown } {
  if (!isRecord(value)) return { type: value, limit: undefined };
  if ('type' in value) return { type: value['type'], limit: value['max_in_flight'] };
  const [entry, ...more] = Object.entries(value);
  if (entry === undefined || more.length > 0 || !isRecord(entry[1])) return { type: undefined, limit: undefined };
  return { type: entry[0], limit: entry[1]['max_in_flight'] };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
