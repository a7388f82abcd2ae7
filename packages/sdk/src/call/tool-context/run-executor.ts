/**
 * Runs a tool through an executor that the embedding program registered.
 *
 * It is given the resolved call, the effect as it is on record and the strategy of its batch, all by reference; the
 * arguments and what a tool may touch come apart from them. Gates, locks, records and limits stay here, around it.
 */
import { type JsonObject, type JsonValue, ToolError } from '@tool-runtime/protocol';
import { cancellation, failure } from '../../contracts/failures.ts';
import type { ContentRef } from '../../contracts/refs.ts';
import { DEFAULT_STRATEGY } from '../../package/execution-strategy.ts';
import type { ExecutorOutput, HostExecutor } from '../../package/executor-registry.ts';
import type { ToolExecutionRequest } from '../../package/tool-router.ts';
import type { RecordedCall } from '../state/call-types.ts';
import type { IdentityParts } from '../state/session-parts.ts';
import type { CallContext } from './execution-context.ts';

export async function runExecutor(
  executor: HostExecutor,
  call: RecordedCall,
  { context, parts }: { readonly context: CallContext; readonly parts: IdentityParts },
): Promise<JsonValue> {
  const { args } = call.subject;
  const output = await executor.execute(executionRequest(call, parts), {
    args,
    context,
    runTool: () => call.compiled.tool.run(args, context),
  });
  context.effect = effectOf(output);
  if (output.terminal_status === 'completed') return output.data ?? null;
  throw notCompleted(output, call.subject.tool);
}

export function executionRequest(call: RecordedCall, { source }: IdentityParts): ToolExecutionRequest {
  const { open, compiled, subject, effectId } = call;
  const { route } = compiled;
  const { idempotencyKey, dedupeKey, strategy = DEFAULT_STRATEGY } = open.request;
  const keys = {
    ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
    ...(dedupeKey === undefined ? {} : { dedupe_key: dedupeKey }),
  };
  const refs: readonly ContentRef[] = [argsRef(call)];
  return {
    resolved_call: {
      request: {
        tool_call_id: open.callId,
        canonical_tool_name: subject.tool,
        source,
        requested_args_refs: refs,
        redacted_args_summary: call.argsSummary,
        ...keys,
      },
      route,
    },
    effect_intent: {
      effect_id: effectId,
      kind: 'tool_execution',
      subject_ref: { kind: 'tool_call', id: open.callId },
      source,
      destination: route.destination,
      policy_refs: route.policy_refs,
      ...keys,
      content_refs: refs,
      redacted_summary: call.argsSummary,
    },
    strategy,
  };
}

/** Arguments travel by reference; the digest is the keyed one of the records. */
function argsRef({ open, argsHash }: RecordedCall): ContentRef {
  return { id: `args.${open.callId}`, digest: argsHash };
}

function effectOf({ external_operation_id, reconciliation_ref }: ExecutorOutput): JsonObject {
  return {
    ...(external_operation_id === undefined ? {} : { external_operation_id }),
    ...(reconciliation_ref === undefined ? {} : { reconciliation_ref }),
  };
}

function notCompleted({ terminal_status: status, redacted_summary: summary, error_ref }: ExecutorOutput, tool: string) {
  const details = { reason: `executor_${status}`, ...(error_ref === undefined ? {} : { error_ref }) };
  if (status === 'cancelled') return cancellation(`Executor cancelled the call: ${tool}`);
  const message = `Executor did not complete the call: ${tool} (${summary.slice(0, 300)})`;
  if (status === 'timed_out') return failure('timeout', 'retryable', message, { details });
  if (status === 'unknown') return failure('recovery_repair_needed', 'repair_needed', message, { details });
  return new ToolError('E_INTERNAL', message, {
    details: { kind: 'tool_failure', retry: 'not_retryable', ...details },
  });
}
