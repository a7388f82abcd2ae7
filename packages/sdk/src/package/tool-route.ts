/** How one tool name reaches its executor, under which policies, with what effect and risk. */
import type { JsonObject } from '@tool-runtime/protocol';
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
import { missingField } from '../contracts/failures.ts';
import { type CanonicalToolName, type CapabilityId, checkId, type ExecutorRef } from '../contracts/identifiers.ts';
import type { DestinationRef, PolicyRef, SourceRef } from '../contracts/refs.ts';
import { parseForeign } from './problems.ts';
import {
  destinationRefSchema,
  idSchema,
  policyRefSchema,
  sidecarRefSchema,
  sourceRefSchema,
  vocabulary,
} from './reference-schemas.ts';
import type { PackageSidecarRef } from './sidecar.ts';

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

/** Pure. A route without an executor or without policies is refused by the name of the missing field. */
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
