/** A batch in one transaction: committed when all its calls succeed, given up otherwise. */
import {
  type ErrorEntry,
  type ErrorMessage,
  type JsonObject,
  type JsonValue,
  ToolError,
  type ToolResponse,
} from '@tool-runtime/protocol';
import { isKnownBatch } from '../call/idempotency.ts';
import type { BatchKey, CallRequest } from '../call/state/call-types.ts';
import type { SessionParts } from '../call/state/session-parts.ts';
import { NOT_RECORDED } from '../call/state/used-key.ts';
import { policyDenial } from '../contracts/failures.ts';
import type { TransactionStep } from '../contracts/transactions.ts';
import type { ToolExecutionStrategy } from '../package/execution-strategy.ts';
import { type AtomicCall, type AtomicItem, footprintOf, runBatch } from './run-batch.ts';
import type { MemberAt } from './run-taped.ts';
import type { BatchItem, BatchOptions, CallTool } from './session.ts';

type CallAnswer = ToolResponse | ErrorMessage;

export interface AtomicPorts {
  readonly strategy: ToolExecutionStrategy;
  readonly parts: SessionParts;
  /** Calls the session's own tool for it. */
  call(step: TransactionStep, args: JsonObject, how?: StepOptions): Promise<ToolResponse>;
}

type StepOptions = Pick<CallRequest, 'batchKey' | 'recordOf'>;

/**
 * Answers in the order of the calls, none before it is known what became of the whole. After a failure no further call begins.
 *
 * A batch with a key is claimed by its commit, and its calls are on record in its transaction. When it is sent again and was
 * committed, all of it is answered from these records, also after a crash; when it was not, it runs.
 */
export async function runAtomic<Answer extends CallAnswer>(
  items: readonly AtomicItem[],
  ports: AtomicPorts,
): Promise<readonly Answer[]> {
  if (items.some(({ txId }) => txId !== undefined)) throw ownTransaction();
  const batchKey = batchKeyOf(items, ports.parts);
  const answered = batchKey && (await answerAgain(items, batchKey, ports));
  return (answered ?? (await runOnce(items, batchKey, ports))) as readonly CallAnswer[] as readonly Answer[];
}

/** Undefined for a batch without keys. Calls that have none themselves are known by their place in it. */
function batchKeyOf(items: readonly AtomicItem[], { hashArgs }: SessionParts): BatchKey | undefined {
  const keys = items.map(({ idempotencyKey }) => idempotencyKey ?? null);
  if (keys.every((key) => key === null)) return undefined;
  const calls = items.map(({ tool, args }) => ({ tool, args: args as JsonValue }));
  try {
    return { key: hashArgs('batch keys', { keys }), argsHash: hashArgs('batch', { calls }) };
  } catch {
    // Arguments without a JSON form: the call that has them is refused, so nothing of the batch becomes real.
    return undefined;
  }
}

function keyOf({ idempotencyKey }: AtomicItem, at: number): string {
  return idempotencyKey ?? `call-${at + 1}-of-batch`;
}

/** Undefined when it was not committed: then nothing of it is real, and it may run. */
async function answerAgain(
  items: readonly AtomicItem[],
  batchKey: BatchKey,
  { call, parts }: AtomicPorts,
): Promise<readonly CallAnswer[] | undefined> {
  if (!(await isKnownBatch(batchKey, parts))) return undefined;
  const committed = await call('commit', {}, { batchKey, recordOf: batchKey.key });
  const [problem] = committed.errors;
  if (problem?.details?.['reason'] === NOT_RECORDED) return undefined;
  const tx_id = committed.ok ? txIdOf(committed) : '';
  if (!committed.ok) return items.map((item) => refused(item, notCommitted(tx_id, committed, 'Call was not made')));
  const answers: CallAnswer[] = [];
  for (const [at, item] of items.entries())
    answers.push(await item.run({ recordOf: tx_id, idempotencyKey: keyOf(item, at) }));
  return answers;
}

async function runOnce(
  items: readonly AtomicItem[],
  batchKey: BatchKey | undefined,
  { strategy, call }: AtomicPorts,
): Promise<readonly CallAnswer[]> {
  const began = await call('begin', {});
  if (!began.ok) return items.map((item) => refused(item, began.errors));
  const tx_id = txIdOf(began);
  let failed: CallAnswer | undefined;
  const calls = items.map((item, at) => ({
    footprint: item.footprint,
    async run(): Promise<CallAnswer> {
      if (failed !== undefined) return refused(item, notCommitted(tx_id, failed, 'Call was not made'));
      const key = batchKey === undefined ? {} : { idempotencyKey: keyOf(item, at) };
      const answer = await item.run({ txId: tx_id, ...key });
      if (!isOk(answer)) failed ??= answer;
      return answer;
    },
  }));
  const answers = await runBatch(calls, strategy, () => {}).catch(async (thrown: unknown) => {
    await call('abort', { tx_id });
    throw thrown;
  });
  if (failed === undefined) {
    const committed = await call('commit', { tx_id }, batchKey === undefined ? {} : { batchKey });
    if (committed.ok) return answers;
    failed = committed;
  }
  const aborted = await call('abort', { tx_id });
  const cause = failed;
  const explain = (): readonly ErrorEntry[] =>
    aborted.ok ? notCommitted(tx_id, cause, 'Call was taken back') : notKnown(tx_id, cause);
  const isReal = aborted.errors.some(({ details }) => details?.['reason'] === 'tx_committed');
  return answers.map((answer, at) => {
    const item = items[at];
    if (!isOk(answer) || item === undefined) return answer;
    return isReal ? warned(answer, cause) : refused(item, explain());
  });
}

function txIdOf({ data }: ToolResponse): string {
  return String((data as { readonly tx_id?: unknown }).tx_id);
}

interface AtomicBatch {
  readonly strategy: ToolExecutionStrategy;
  readonly call: CallTool;
  readonly parts: SessionParts;
  readonly options: BatchOptions;
  readonly memberAt: MemberAt;
}

/** For programs that hold the session. */
export async function atomicBatch(
  items: readonly BatchItem[],
  { strategy, call, parts, options, memberAt }: AtomicBatch,
): Promise<ToolResponse[]> {
  const calls = items.map(({ tool, args, requestId = parts.newId(), txId, ...rest }, index) => ({
    ...{ tool, args, requestId, txId, footprint: footprintOf(tool, args, parts) },
    idempotencyKey: rest.idempotencyKey,
    run: (how: AtomicCall) => call(tool, args, { ...rest, requestId, ...how, strategy, ...memberAt(index) }),
  }));
  const answers = await runAtomic<ToolResponse>(calls, { strategy, parts, call: stepCaller(call, parts) });
  for (const [index, answer] of answers.entries()) options.onResponse?.(answer, index);
  return [...answers];
}

export function stepCaller(call: CallTool, { tools }: SessionParts): AtomicPorts['call'] {
  return (step, args, how = {}) => {
    const found = [...tools.values()].find(({ tool }) => tool.ofTransaction === step);
    if (found === undefined) throw noTransactions();
    return call(found.tool.name, args, how);
  };
}

function isOk(answer: CallAnswer): boolean {
  return answer.type === 'ToolResponse' && answer.ok;
}

function refused({ tool, requestId }: AtomicItem, errors: readonly ErrorEntry[]): ToolResponse {
  return {
    ...{ type: 'ToolResponse', ok: false, tool, request_id: requestId, duration_ms: 0, data: null },
    errors: [...errors],
    warnings: [],
  };
}

/** What stopped the batch is in the details, whole: it may be a failed commit, which has no answer of its own. */
function notCommitted(tx_id: string, cause: CallAnswer, what: string): readonly ErrorEntry[] {
  const first = cause.type === 'ToolResponse' ? cause.errors[0] : cause;
  const by = cause.type === 'ToolResponse' ? `${cause.tool}: ` : '';
  return [
    {
      code: first?.code ?? 'E_VALIDATION_FAIL',
      message: `${what}, because the batch was not committed: ${by}${first?.message ?? 'refused'}`,
      details: {
        gate: 'transaction',
        reason: 'batch_not_committed',
        tx_id,
        request_id: cause.request_id ?? '',
        ...(first?.details === undefined ? {} : { cause: first.details }),
        next: 'fix what failed and send the batch again, with new keys where its calls have some',
      },
    },
  ];
}

/** The commit failed, and so did giving the transaction up: its changes may be real. */
function notKnown(tx_id: string, cause: CallAnswer): readonly ErrorEntry[] {
  const first = cause.type === 'ToolResponse' ? cause.errors[0] : cause;
  return [
    {
      code: first?.code ?? 'E_INTERNAL',
      message: `It is not known whether the batch was committed: ${first?.message ?? 'no answer'}`,
      details: {
        gate: 'transaction',
        reason: 'batch_outcome_unknown',
        tx_id,
        request_id: cause.request_id ?? '',
        ...(first?.details === undefined ? {} : { cause: first.details }),
        next: 'read the files before you send the batch again; tx_abort gives up what is still open',
      },
    },
  ];
}

/** What the call did is real; that its commit failed afterwards is said beside it. */
function warned(answer: CallAnswer, cause: CallAnswer): CallAnswer {
  if (answer.type !== 'ToolResponse' || cause.type !== 'ToolResponse') return answer;
  return { ...answer, warnings: [...answer.warnings, ...cause.errors] };
}

function noTransactions(): ToolError {
  return policyDenial('Session may not use transactions, so a batch cannot be atomic', {
    path: 'atomic',
    details: {
      gate: 'transaction',
      reason: 'no_transactions',
      next: 'leave out atomic, or ask the operator for the tools',
    },
  });
}

function ownTransaction(): ToolError {
  return new ToolError('E_VALIDATION_FAIL', 'Calls of an atomic batch cannot name a transaction', {
    path: 'tx_id',
    details: { gate: 'transaction', reason: 'tx_in_atomic_batch', next: 'leave out tx_id, or atomic' },
  });
}
