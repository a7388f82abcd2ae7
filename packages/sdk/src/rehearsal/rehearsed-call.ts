/** A call that is judged and not made: the same route, arguments and gates as a real call; nothing runs or is recorded. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ErrorEntry, PolicyExplanation, ToolError } from '@tool-runtime/protocol';
import { type JudgedProposal, judgeProposal } from '../call/pipeline.ts';
import { explainRefusal } from '../call/record-refusal.ts';
import type { SessionParts } from '../call/state/session-parts.ts';
import { completeRefusal } from '../contracts/failures.ts';
import type { Registry } from '../contracts/registry.ts';
import type { RuntimeParts } from '../session/compile-session.ts';
import { inPreview } from '../session/open-session.ts';

export type Decision = PolicyExplanation['decision'];

export interface RehearsedCall {
  readonly tool: string;
  readonly args: unknown;
}

export interface Rehearsal extends Pick<JudgedProposal, 'open' | 'ready' | 'heard'> {
  readonly decision: Decision;
  /** Why, as a short code. */
  readonly code: string;
  /** Of a call that is denied: with the line of the registry, and without secrets. */
  readonly error: ToolError | undefined;
}

export async function rehearse(
  { tool, args }: RehearsedCall,
  parts: SessionParts,
  how: { readonly hear?: boolean } = {},
): Promise<Rehearsal> {
  // Thousands of calls may be judged in a row, in a process that serves others meanwhile.
  await nextTurn();
  const { judged, ...proposal } = await judgeProposal({ tool, args, requestId: parts.newId() }, parts, how);
  if (judged.ok) {
    const { verdict, decision } = judged.value;
    return { ...proposal, decision: verdict, code: decision.code, error: undefined };
  }
  const error = explainRefusal(judged.error, parts);
  return { ...proposal, decision: 'deny', code: codeOf(error), error };
}

export function codeOf({ code, details }: ToolError): string {
  const reason = details['reason'] ?? details['rule'] ?? details['field'];
  return typeof reason === 'string' ? reason : code;
}

export function entryOf(error: ToolError): ErrorEntry {
  return completeRefusal(error).toEntry();
}

export function detailOf(error: ToolError | undefined, key: string): string | undefined {
  const value = error?.details[key];
  return typeof value === 'string' ? value : undefined;
}

/** The parts of a session that this registry would give, for as long as `use` takes. Throws where none could open. */
export function underRegistry<T>(
  registry: Registry,
  runtime: RuntimeParts,
  use: (parts: SessionParts) => Promise<T>,
): Promise<T> {
  const input = { actor: 'rehearsal', client: 'policy', registry, capabilities: undefined };
  return inPreview({ ...input, heartbeatTimeoutMs: undefined, approvals: undefined }, runtime, use);
}
