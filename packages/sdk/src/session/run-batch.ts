/**
 * Schedules many calls by an execution strategy.
 *
 * Read-only calls overlap. A mutating call waits for every earlier call it could disturb and holds back every later one,
 * unless both name what they touch and share nothing. A failed call never cancels its siblings.
 */
import type { ToolExecutionStrategy } from '../package/execution-strategy.ts';
import { FairSlots } from '../platform/fair-slots.ts';

export interface BatchCall<Answer> {
  /** What the call may touch: nothing exclusive (`shared`), some keys, or anything. */
  readonly footprint: Footprint;
  run(): Promise<Answer>;
}

export interface Footprint {
  readonly readOnly: boolean;
  /** Undefined: unknown, so it may be anything. */
  readonly keys: ReadonlySet<string> | undefined;
}

export async function runBatch<Answer>(
  calls: readonly BatchCall<Answer>[],
  strategy: ToolExecutionStrategy,
  release: (answer: Answer, index: number) => void,
): Promise<Answer[]> {
  const slots = new FairSlots(strategy.type === 'sequential' ? 1 : strategy.max_in_flight);
  const inOrder = strategy.type !== 'bounded_concurrent';
  const running: Promise<Answer>[] = [];
  let released: Promise<unknown> = Promise.resolve();
  for (const [index, call] of calls.entries()) {
    const blockers = running.filter((_, earlier) => conflicts(calls[earlier], call));
    const response = startWhenFree(call, blockers, slots);
    running.push(response);
    const before = released;
    released = (inOrder ? before.then(() => response) : response).then((answer) => release(answer, index));
    if (!inOrder) released = Promise.all([before, released]);
  }
  await released;
  return Promise.all(running);
}

async function startWhenFree<Answer>(
  call: BatchCall<Answer>,
  blockers: readonly Promise<unknown>[],
  slots: FairSlots,
): Promise<Answer> {
  // First in the queue for a slot, then wait for blockers: all blockers are earlier in the same queue, so they have theirs.
  await slots.take('batch');
  try {
    await Promise.all(blockers);
    return await call.run();
  } finally {
    slots.give();
  }
}

function conflicts(earlier: BatchCall<unknown> | undefined, later: BatchCall<unknown>): boolean {
  if (earlier === undefined) return false;
  const a = earlier.footprint;
  const b = later.footprint;
  if (a.readOnly && b.readOnly) return false;
  if (a.keys === undefined || b.keys === undefined) return true;
  return !a.keys.isDisjointFrom(b.keys);
}
