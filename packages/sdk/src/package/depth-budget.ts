/** How deep children may nest and how many each parent may start. The part that starts children does the counting. */
import { contractViolation } from '../contracts/failures.ts';

export interface DepthBudget {
  readonly current_depth: number;
  readonly max_depth: number;
  /** For each parent, over its whole life: a child that ended still counts. */
  readonly max_children: number;
}

/** The budget of a root: nothing used, one child for each parent. */
export function depthBudget(maxDepth: number): DepthBudget {
  const budget = { current_depth: 0, max_depth: maxDepth, max_children: 1 };
  checkCounts(budget);
  return Object.freeze(budget);
}

/** Throws E_VALIDATION_FAIL, with a `details.field` of its own for each bound, when no further child may start. */
export function checkChildStart(budget: DepthBudget, childrenStarted: number): void {
  checkCounts(budget);
  checkCount(childrenStarted, 'children_started');
  const { current_depth, max_depth, max_children } = budget;
  if (current_depth >= max_depth) {
    const field = 'depth_budget.max_depth';
    throw contractViolation(`Depth budget is used up: ${field}`, { field, current_depth, max_depth });
  }
  if (childrenStarted >= max_children) {
    const field = 'depth_budget.max_children';
    throw contractViolation(`Child budget is used up: ${field}`, {
      field,
      children_started: childrenStarted,
      max_children,
    });
  }
}

/** What the child is given to enforce on its own children. */
export function childBudget(budget: DepthBudget): DepthBudget {
  checkCounts(budget);
  const { current_depth, max_depth, max_children } = budget;
  return Object.freeze({ current_depth: current_depth + 1, max_depth, max_children });
}

function checkCounts({ current_depth, max_depth, max_children }: DepthBudget): void {
  checkCount(current_depth, 'depth_budget.current_depth');
  checkCount(max_depth, 'depth_budget.max_depth');
  checkCount(max_children, 'depth_budget.max_children');
}

function checkCount(value: number, field: string): void {
  if (Number.isSafeInteger(value) && value >= 0) return;
  throw contractViolation(`Count is not a whole number from zero up: ${field}`, { field });
}
