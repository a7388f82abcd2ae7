/** A batch in one transaction: committed when all its calls succeed, given up otherwise. */
import {
  type ErrorEntry,
  type ErrorMessage,
  type JsonObject,
  ToolError,
  type ToolResponse,
} from '@tool-runtime/protocol';
import type { SessionParts } from '../call/state/session-parts.ts';
import { policyDenial } from '../contracts/failures.ts';
import type { TransactionStep } from '../contracts/transactions.ts';
import type { ToolExecutionStrategy } from '../package/execution-strategy.ts';
import { type AtomicItem, footprintOf, runBatch } from './run-batch.ts';
import type { MemberAt } from './run-taped.ts';
import type { BatchItem, BatchOptions, CallTool } from './session.ts';

type CallAnswer = ToolResponse | ErrorMessage;

export interface AtomicPorts {
  readonly strategy: ToolExecutionStrategy;
  /** Calls the session's own tool for it. */
  call(step: TransactionStep, args: JsonObject): Promise<ToolResponse>;
}

/** Answers in the order of the calls, none before it is known what became of the whole. After a failure no further call begins. */
export async function runAtomic<Answer extends CallAnswer>(
  items: readonly AtomicItem[],
  { strategy, call }: AtomicPorts,
): Promise<readonly Answer[]> {
  if (items.some(({ txId }) => txId !== undefined)) throw ownTransaction();
  const began = await call('begin', {});
  if (!began.ok) return items.map((item) => refused(item, began.errors) as Answer);
  const tx_id = String((began.data as { readonly tx_id?: unknown }).tx_id);
  let failed: CallAnswer | undefined;
  const calls = items.map((item) => ({
    footprint: item.footprint,
    async run(): Promise<CallAnswer> {
      if (failed !== undefined) return refused(item, notCommitted(tx_id, failed, 'Call was not made'));
      const answer = await item.run(tx_id);
      if (!isOk(answer)) failed ??= answer;
      return answer;
    },
  }));
  const answers = await runBatch(calls, strategy, () => {}).catch(async (thrown: unknown) => {
    await call('abort', { tx_id });
    throw thrown;
  });
  if (failed === undefined) {
    const committed = await call('commit', { tx_id });
    if (committed.ok) return answers as readonly CallAnswer[] as readonly Answer[];
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
  }) as readonly CallAnswer[] as readonly Answer[];
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
    ...{ tool, requestId, txId, footprint: footprintOf(tool, args, parts) },
    run: (joined: string) => call(tool, args, { ...rest, requestId, txId: joined, strategy, ...memberAt(index) }),
  }));
  const answers = await runAtomic<ToolResponse>(calls, { strategy, call: stepCaller(call, parts) });
  for (const [index, answer] of answers.entries()) options.onResponse?.(answer, index);
  return [...answers];
}

export function stepCaller(call: CallTool, { tools }: SessionParts): AtomicPorts['call'] {
  return (step, args) => {
    const found = [...tools.values()].find(({ tool }) => tool.ofTransaction === step);
    if (found === undefined) throw noTransactions();
    return call(found.tool.name, args, {});
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
        next: 'fix what failed and send the batch again',
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
