/** Adds a declaration right before or right after another. */
import { commitFirst } from '../commit-edits.ts';
import type { OperationOf } from '../edit-operations.ts';
import type { Side } from '../place-beside.ts';
import { placeBeside, warnOfTwins } from '../place-beside.ts';
import { type Outcome, type Planner, requireEditable, type Work } from '../work.ts';

export const insertBefore: Planner<'insert_before'> = (operation, work) => insertBeside(operation, work, 'before');
export const insertAfter: Planner<'insert_after'> = (operation, work) => insertBeside(operation, work, 'after');

async function insertBeside(
  operation: OperationOf<'insert_before' | 'insert_after'>,
  { desk, warn }: Work,
  side: Side,
): Promise<Outcome> {
  const { draft, node } = await desk.target(operation);
  requireEditable(draft, operation);
  const before = draft.facts.nodes;
  commitFirst(draft, placeBeside(draft, node, operation.text, side), { warn });
  warnOfTwins(draft, before, warn);
  return { confidence: 'tree' };
}
