/**
 * The id of the run that an answer came from.
 *
 * A call that a gate refused says nothing of a run; its run is found by the call. For a tool that is not listed there is
 * no other program that makes one, so it is made here.
 */
import type { ToolResponse } from '@tool-runtime/protocol';
import type { Runtime } from '@tool-runtime/sdk';
import type { SharedOptions } from './command.ts';

export interface AnsweredRun {
  readonly response: ToolResponse;
  readonly isListed: boolean;
  /** The journal's last record before the call. */
  readonly since: number;
  readonly runtime: Runtime;
  readonly options: SharedOptions;
}

/** Undefined when there is none, as when its folder could not be made. */
export async function findRunId(answered: AnsweredRun): Promise<string | undefined> {
  const { data, errors, ok, tool } = answered.response;
  const said = ok ? (data as { readonly run_id?: unknown } | null)?.run_id : errors[0]?.details?.['run_id'];
  if (typeof said === 'string') return said;
  const requested = requestOf(answered);
  const [error] = errors;
  if (requested === undefined || error === undefined) return undefined;
  const [{ findRunOfCall, recordUnlistedRun }, { stateOf }] = await Promise.all([
    import('@tool-runtime/sdk/parts'),
    import('./state-of.ts'),
  ]);
  const { call_id: callId, session_id: sessionId, actor } = requested;
  const state = stateOf(answered.options);
  if (answered.isListed) return findRunOfCall(state, tool, callId)?.run_id;
  return (await recordUnlistedRun({ state, tool, callId, sessionId, actor, error })).run_id;
}

function requestOf({ response, since, runtime }: AnsweredRun) {
  for (const record of runtime.records({ after: since, kind: 'requested' })) {
    if (record.kind === 'requested' && record.request_id === response.request_id) return record;
  }
  return undefined;
}
