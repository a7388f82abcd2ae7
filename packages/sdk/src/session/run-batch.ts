/**
 * Schedules many calls by an execution strategy.
 *
 * Read-only calls overlap. A mutating call waits for every earlier call it could disturb and holds back every later
 * one, unless both name what they touch and share nothing. A failed call never cancels its siblings.
 */
import { rewriteAliases } from '../call/normalize-args.ts';
import type { SessionParts } from '../call/state/session-parts.ts';
import { isReadOnlyKind } from '../contracts/annotations.ts';
import type { ToolExecutionStrategy } from '../package/execution-strategy.ts';
import { FairSlots } from '../platform/fair-slots.ts';
import { declaredPaths } from '../policy/declared-paths.ts';

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

const ANYTHING: Footprint = { readOnly: false, keys: undefined };
const NOTHING: Footprint = { readOnly: true, keys: new Set() };

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

/** What a call of a batch would touch, as far as its arguments show. Checks nothing: the pipeline does that. */
export function footprintOf(tool: string, args: unknown, parts: SessionParts): Footprint {
  const compiled = parts.tools.get(tool);
  // An unknown tool is refused by the pipeline and touches nothing.
  if (compiled === undefined) return NOTHING;
  const readOnly = compiled.annotated && isReadOnlyKind(compiled.staticProfile.kind);
  const keys = lockKeysOf(args, compiled.annotations.arg_schema, parts);
  return keys === undefined ? { ...ANYTHING, readOnly } : { readOnly, keys };
}

function lockKeysOf(
  args: unknown,
  schema: { readonly path_params: readonly string[]; readonly arg_aliases: Readonly<Record<string, string>> },
  parts: SessionParts,
): ReadonlySet<string> | undefined {
  if (typeof args !== 'object' || args === null) return undefined;
  try {
    const rewritten = rewriteAliases(args as Parameters<typeof rewriteAliases>[0], schema.arg_aliases);
    const paths = declaredPaths(rewritten, schema.path_params);
    if (paths.length === 0) return undefined;
    return new Set(paths.flatMap((path) => parts.workspace.lockKeys(path.value)));
  } catch {
    // Bad arguments are refused by the pipeline; for ordering they count as touching anything.
    return undefined;
  }
}
