/** A call on its way: asked for, resolved, ready to execute. Raw arguments stay outside; refs and summaries travel. */
import type { EffectIntent } from '../contracts/effects.ts';
import { type CanonicalToolName, checkId, type ToolCallId } from '../contracts/identifiers.ts';
import type { ContentRef, SourceRef } from '../contracts/refs.ts';
import type { ToolExecutionStrategy } from './execution-strategy.ts';
import type { ToolRoute } from './tool-route.ts';

/** A tool call as a model provider's adapter hands it over. */
export interface ProviderToolCall {
  readonly tool_call_id: ToolCallId;
  readonly canonical_tool_name: CanonicalToolName;
  readonly requested_args_refs: readonly ContentRef[];
  readonly redacted_args_summary: string;
}

export interface ToolCallRequest {
  readonly tool_call_id: ToolCallId;
  readonly canonical_tool_name: CanonicalToolName;
  readonly source: SourceRef;
  readonly requested_args_refs: readonly ContentRef[];
  readonly redacted_args_summary: string;
  readonly idempotency_key?: string;
  readonly dedupe_key?: string;
}

export interface ResolvedToolCall {
  readonly request: ToolCallRequest;
  readonly route: ToolRoute;
}

export interface ToolExecutionRequest {
  readonly resolved_call: ResolvedToolCall;
  readonly effect_intent: EffectIntent;
  readonly strategy: ToolExecutionStrategy;
}

/** Takes over exactly the four known fields: what else an adapter attached, raw arguments above all, stays behind. */
export function lowerProviderCall(call: ProviderToolCall, source: SourceRef): ToolCallRequest {
  return {
    tool_call_id: checkId(call.tool_call_id, 'tool_call.tool_call_id'),
    canonical_tool_name: checkId(call.canonical_tool_name, 'tool_call.canonical_tool_name'),
    source,
    requested_args_refs: call.requested_args_refs,
    redacted_args_summary: call.redacted_args_summary,
  };
}
