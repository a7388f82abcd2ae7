/**
 * Schedules many calls by an execution strategy.
 *
 * Read-only calls overlap. A mutating call waits for every earlier call it could disturb and holds back every later
 * one, unless both name what they touch and share nothing. A failed call never cancels its siblings.
 */
import {
  type BatchRequest,
  type BatchResponse,
  type ErrorMessage,
  type ToolError,
  type ToolResponse,
  toToolError,
} from '@tool-runtime/protocol';
import { rewriteAliases } from '../call/normalize-args.ts';
import type { CallRequest } from '../call/state/call-types.ts';
import type { SessionParts } from '../call/state/session-parts.ts';
import { isReadOnlyKind } from '../contracts/annotations.ts';
import { completeRefusal } from '../contracts/failures.ts';
import { parseStrategy, type ToolExecutionStrategy } from '../package/execution-strategy.ts';
import { FairSlots } from '../platform/fair-slots.ts';
import { declaredPaths } from '../policy/declared-paths.ts';
import type { HandleOptions } from './session.ts';

export interface BatchCall<Answer> {
  /** What the call may touch: nothing exclusive (`shared`), some keys, or anything. */
  readonly footprint: Footprint;
  run(): Promise<Answer>;
}

/** A call of a batch that is one transaction. */
export interface AtomicItem {
  readonly tool: string;
  readonly requestId: string;
  /** The transaction it names, which it must not. */
  readonly txId: string | undefined;
  readonly args: unknown;
  readonly idempotencyKey: string | undefined;
  readonly footprint: Footprint;
  run(how: AtomicCall): Promise<ToolResponse | ErrorMessage>;
}

/** How a call of an atomic batch runs, or is answered when the batch is sent again. */
export type AtomicCall = Pick<CallRequest, 'txId' | 'recordOf' | 'idempotencyKey'>;

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

/** The refusal of an envelope. */
export function errorMessage(error: ToolError, requestId: string | null): ErrorMessage {
  const { code, message, details } = completeRefusal(error).toEntry();
  return { type: 'ErrorMessage', code, message, request_id: requestId, ...(details === undefined ? {} : { details }) };
}

export type BatchRequestCall = BatchRequest['calls'][number];

type CallAnswer = ToolResponse | ErrorMessage;

/** What a transport has to say about the calls of a batch. */
export interface BatchHandling {
  /** Called when the strategy lets the call begin; runs it by `handle`. */
  readonly handleCall?: (
    requestId: string,
    handle: (options: HandleOptions) => Promise<CallAnswer>,
  ) => Promise<CallAnswer>;
}

interface BatchParts extends BatchHandling {
  /** Throws what refuses the batch. */
  claim(): void;
  call(
    item: BatchRequestCall,
    options: HandleOptions & AtomicCall & { strategy: ToolExecutionStrategy },
  ): Promise<ToolResponse>;
  /** All of them in one transaction. */
  atomically(items: readonly AtomicItem[], strategy: ToolExecutionStrategy): Promise<readonly CallAnswer[]>;
  footprint(item: BatchRequestCall): Footprint;
}

/**
 * A batch that came as an envelope: the batch is refused as a whole, or each of its calls has an answer.
 *
 * Never rejects.
 */
export async function handleBatch(request: BatchRequest, parts: BatchParts): Promise<BatchResponse | ErrorMessage> {
  const { request_id } = request;
  const responses: CallAnswer[] = [];
  try {
    const strategy = parseStrategy(request.strategy);
    parts.claim();
    const runItem = (item: BatchRequestCall, joined: AtomicCall): Promise<CallAnswer> => {
      const handle = (options: HandleOptions): Promise<CallAnswer> =>
        parts
          .call(item, { ...options, ...joined, strategy })
          .catch((thrown: unknown) => errorMessage(toToolError(thrown), item.request_id));
      return parts.handleCall?.(item.request_id, handle) ?? handle({});
    };
    if (request.atomic === true) {
      const items = request.calls.map((item) => ({
        ...{ tool: item.tool, args: item.args, requestId: item.request_id, txId: item.tx_id },
        ...{ idempotencyKey: item.idempotency_key, footprint: parts.footprint(item) },
        run: (how: AtomicCall) => runItem(item, how),
      }));
      responses.push(...(await parts.atomically(items, strategy)));
    } else {
      const calls = request.calls.map((item) => ({ footprint: parts.footprint(item), run: () => runItem(item, {}) }));
      await runBatch(calls, strategy, (answer) => responses.push(answer));
    }
  } catch (thrown) {
    return errorMessage(toToolError(thrown), request_id);
  }
  return { type: 'BatchResponse', request_id, responses };
}
