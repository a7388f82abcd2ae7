/** Finds routes by name in one snapshot. An unknown name is a denial, never a guess. */
import { isJsonObject, type JsonObject, type ToolError } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { z } from 'zod';
import {
  EFFECT_CLASSES,
  type EffectClass,
  PRIVACY_CLASSES,
  type PrivacyClass,
  RETENTION_CLASSES,
  type RetentionClass,
  RISK_CLASSES,
  type RiskClass,
} from '../contracts/classes.ts';
import type { EffectIntent } from '../contracts/effects.ts';
import { failure, missingField } from '../contracts/failures.ts';
import {
  type CanonicalToolName,
  type CapabilityId,
  checkId,
  type ExecutorRef,
  type ToolCallId,
} from '../contracts/identifiers.ts';
import type { ContentRef, DestinationRef, PolicyRef, SourceRef } from '../contracts/refs.ts';
import type { AnyTool } from '../contracts/tool.ts';
import { nearestName } from '../text/names.ts';
import type { ToolExecutionStrategy } from './execution-strategy.ts';
import type { PackageSidecarRef } from './package-parts.ts';
import { parseForeign } from './problems.ts';
import {
  destinationRefSchema,
  idSchema,
  policyRefSchema,
  sidecarRefSchema,
  sourceRefSchema,
  vocabulary,
} from './reference-schemas.ts';
import type { ToolRegistrySnapshot } from './registry-snapshot.ts';

const SHOWN_NAME_LENGTH = 64;

export interface ToolRouter {
  readonly snapshot: ToolRegistrySnapshot;
  /**
   * The call with its route. The route is deep-frozen, so handing out the snapshot's own is as safe as a copy. Throws
   * E_POLICY for an unknown name.
   */
  resolve(request: ToolCallRequest): ResolvedToolCall;
}

/** Values of these arguments are names and numbers; values of other arguments are not shown. */
const SHOWN = new Set(['path', 'glob', 'pattern', 'offset', 'limit', 'timeout_ms']);
const MAX_SHOWN = 200;

interface KnownCall {
  readonly tool: string;
  /** `file_read {"path":"a.ts"}` */
  readonly text: string;
}

export function createRouter(snapshot: ToolRegistrySnapshot): ToolRouter {
  return Object.freeze({
    snapshot,
    resolve(request: ToolCallRequest): ResolvedToolCall {
      const route = snapshot.findByName(request.canonical_tool_name);
      if (route === undefined) throw unknownTool(request.canonical_tool_name, snapshot);
      return { request, route };
    },
  });
}

/** Suggests which tool may be meant, and how to call it. */
export function unknownTool(name: string, snapshot: ToolRegistrySnapshot, known?: KnownCall): ToolError {
  const names = snapshot.routes.map((route) => route.canonical_tool_name);
  const nearest = known?.tool ?? nearestName(name, names);
  return failure(
    'policy_denial',
    'host_configuration_needed',
    `Tool is not in the package: ${safeText(name, SHOWN_NAME_LENGTH)}`,
    {
      details: {
        reason: 'unknown_tool',
        next:
          nearest === undefined
            ? 'List the tools this session may call'
            : `Call ${known?.text ?? nearest} if that was meant`,
        ...(nearest === undefined ? {} : { nearest }),
      },
    },
  );
}

/** A tool called by a name it has elsewhere: the call that does the same here. */
export function callInOurWords(name: string, args: unknown, tools: Iterable<AnyTool>): KnownCall | undefined {
  const asked = name.toLowerCase().replace(/[_-]/g, '');
  for (const { name: tool, knownAs } of tools) {
    if (knownAs?.names.includes(asked) !== true) continue;
    const given = isJsonObject(args) ? Object.entries(args) : [];
    const ours = given.flatMap(([argument, value]): [string, unknown][] => {
      const own = Object.hasOwn(knownAs.args, argument) ? knownAs.args[argument] : undefined;
      if (own === undefined) return [];
      return [[own, SHOWN.has(own) && String(value).length <= MAX_SHOWN ? value : '…']];
    });
    return { tool, text: `${tool} ${JSON.stringify(Object.fromEntries(ours))}` };
  }
  return undefined;
}

export interface ToolRoute {
  readonly capability_id: CapabilityId;
  readonly canonical_tool_name: CanonicalToolName;
  readonly namespace: string;
  readonly source: SourceRef;
  readonly destination: DestinationRef;
  readonly executor_ref?: ExecutorRef;
  readonly policy_refs: readonly PolicyRef[];
  readonly sidecar_refs: readonly PackageSidecarRef[];
  readonly effect_class: EffectClass;
  readonly risk_class: RiskClass;
  readonly privacy: PrivacyClass;
  readonly retention: RetentionClass;
}

/**
 * How one tool name reaches its executor, under which policies, with what effect and risk.
 *
 * Pure. A route without an executor or without policies is refused by the name of the missing field.
 */
export function validateRoute(route: ToolRoute): void {
  if (route.executor_ref === undefined) throw missingField('tool_route.executor_ref');
  checkId(route.executor_ref, 'tool_route.executor_ref');
  if (route.policy_refs.length === 0) throw missingField('tool_route.policy_refs');
  checkId(route.capability_id, 'tool_route.capability_id');
  checkId(route.canonical_tool_name, 'tool_route.canonical_tool_name');
  checkId(route.namespace, 'tool_route.namespace');
}

/** The JSON form: optional and empty members are left out. */
export function serializeRoute(route: ToolRoute): JsonObject {
  const members = Object.entries(route).filter(
    ([, member]) => member !== undefined && !(Array.isArray(member) && member.length === 0),
  );
  return Object.fromEntries(members);
}

export const toolRouteSchema: z.ZodType<ToolRoute> = z.strictObject({
  capability_id: idSchema,
  canonical_tool_name: idSchema,
  namespace: idSchema,
  source: sourceRefSchema,
  destination: destinationRefSchema,
  executor_ref: idSchema.exactOptional(),
  policy_refs: z.array(policyRefSchema).default([]),
  sidecar_refs: z.array(sidecarRefSchema).default([]),
  effect_class: vocabulary(EFFECT_CLASSES),
  risk_class: vocabulary(RISK_CLASSES),
  privacy: vocabulary(PRIVACY_CLASSES),
  retention: vocabulary(RETENTION_CLASSES),
});

/** The JSON form back as a route; absent optional members are tolerated, unknown ones are not. */
export function parseRoute(value: unknown): ToolRoute {
  return parseForeign(toolRouteSchema, value, 'Tool route');
}

/** A tool call as a model provider's adapter delivers it. */
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

interface ResolvedToolCall {
  readonly request: ToolCallRequest;
  readonly route: ToolRoute;
}

export interface ToolExecutionRequest {
  readonly resolved_call: ResolvedToolCall;
  readonly effect_intent: EffectIntent;
  readonly strategy: ToolExecutionStrategy;
}

/**
 * A call on its way: asked for, resolved, ready to execute. Raw arguments stay outside; refs and summaries travel.
 *
 * Takes over exactly the four known fields: what else an adapter attached, raw arguments above all, stays behind.
 */
export function lowerProviderCall(call: ProviderToolCall, source: SourceRef): ToolCallRequest {
  return {
    tool_call_id: checkId(call.tool_call_id, 'tool_call.tool_call_id'),
    canonical_tool_name: checkId(call.canonical_tool_name, 'tool_call.canonical_tool_name'),
    source,
    requested_args_refs: call.requested_args_refs,
    redacted_args_summary: call.redacted_args_summary,
  };
}
