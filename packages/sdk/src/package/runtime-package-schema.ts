/** Reads packages from outside. A manifest in the JSON is ignored: it is always computed. */
import { z } from 'zod';
import { PRIVACY_CLASSES, TRUST_CLASSES } from '../contracts/classes.ts';
import {
  CAPABILITY_KINDS,
  CAPABILITY_SOURCE_KINDS,
  CAPABILITY_VISIBILITIES,
  type CapabilitySpec,
  isReservedKind,
  READINESS_STATUSES,
} from './capability.ts';
import { HOOK_POINTS, HOOK_RIGHTS } from './hook-spec.ts';
import { ISOLATION_CLASSES } from './package-parts.ts';
import { parseForeign } from './problems.ts';
import { idSchema, policyRefSchema, sidecarRefSchema, sourceRefSchema, vocabulary } from './reference-schemas.ts';
import { createPackage, type RuntimePackage } from './runtime-package.ts';

const projectionSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('not_projected') }),
  z.strictObject({ type: z.literal('descriptor_only') }),
  z.strictObject({ type: z.literal('provider_tool_schema'), schema_ref: z.string().min(1) }),
  z.strictObject({ type: z.literal('produces_context_items'), allowed_kinds: z.array(z.string()) }),
  z.strictObject({ type: z.literal('projects_context_refs'), allowed_ref_kinds: z.array(z.string()) }),
]);

const readinessSchema = z.strictObject({
  status: vocabulary(READINESS_STATUSES),
  owner_role: z.string().exactOptional(),
});

/** Reads capabilities from outside. What is left out gets the value that exposes least. */
const capabilitySourceKindSchema = vocabulary(CAPABILITY_SOURCE_KINDS);

const capabilitySchema: z.ZodType<CapabilitySpec> = z
  .strictObject({
    capability_id: idSchema,
    kind: vocabulary(CAPABILITY_KINDS),
    source: z.strictObject({
      kind: capabilitySourceKindSchema,
      source_ref: sourceRefSchema,
      adapter_ref: z.string().exactOptional(),
    }),
    namespace: idSchema,
    version: idSchema,
    visibility: vocabulary(CAPABILITY_VISIBILITIES).default('hidden'),
    projection: projectionSchema.default({ type: 'not_projected' }),
    executor_ref: idSchema.exactOptional(),
    policy_ref: policyRefSchema,
    sidecar_refs: z.array(sidecarRefSchema).default([]),
    isolation_ref: idSchema.exactOptional(),
    privacy: vocabulary(PRIVACY_CLASSES).default('content_refs_only'),
    readiness: readinessSchema.exactOptional(),
  })
  .transform((value) => ({ ...value, readiness: value.readiness ?? defaultReadiness(value.kind) }));

function defaultReadiness(kind: CapabilitySpec['kind']): CapabilitySpec['readiness'] {
  return { status: isReservedKind(kind) ? 'reserved_inactive' : 'active' };
}

const sidecarSchema = z.strictObject({
  sidecar_id: idSchema,
  kind: idSchema,
  version: idSchema,
  refs: z.array(sidecarRefSchema).default([]),
  policy_refs: z.array(policyRefSchema).default([]),
  content_hash: z.string().min(1),
});

const hookSchema = z.strictObject({
  hook_id: idSchema,
  version: idSchema,
  point: vocabulary(HOOK_POINTS),
  rights: z.array(vocabulary(HOOK_RIGHTS)),
  executor_ref: idSchema,
  policy_ref: policyRefSchema,
});

const catalogSchema = z.strictObject({
  catalog_id: idSchema,
  source_kind: capabilitySourceKindSchema,
  source_ref: sourceRefSchema,
  version: z.string().exactOptional(),
  content_hash: z.string().exactOptional(),
  trust_state: vocabulary(TRUST_CLASSES),
  activation_policy_ref: policyRefSchema,
  candidates: z.array(idSchema).default([]),
});

const childLifecycleSchema = z.strictObject({
  policy_ref: policyRefSchema,
  manual_cancel: z.string().min(1),
  detach_policy_ref: policyRefSchema,
  cleanup_timeout_ms: z.number(),
});

const volatileSchema = z.strictObject({
  run_id: z.string().exactOptional(),
  event_id: z.string().exactOptional(),
  timestamp_ms: z.number().exactOptional(),
  adapter_health: z.string().exactOptional(),
  temporary_path: z.string().exactOptional(),
});

/** Shape only; whether the package holds together is for `validatePackage`. The output is frozen. */
export const runtimePackageSchema: z.ZodType<RuntimePackage> = z
  .strictObject({
    schema_version: z.number().exactOptional(),
    package_id: idSchema,
    agent: z.strictObject({
      agent_id: idSchema,
      name: z.string().exactOptional(),
      default_behavior_refs: z.array(policyRefSchema).exactOptional(),
    }),
    provider_route: z.strictObject({
      route_id: z.string(),
      model_id: z.string(),
      provider_policy_ref: policyRefSchema.exactOptional(),
    }),
    provider_capabilities: z
      .strictObject({ capability_version: z.string(), realtime_capability_version: z.string().exactOptional() })
      .exactOptional(),
    output_contracts: z
      .array(z.strictObject({ schema_id: idSchema, schema_version: z.string(), schema_fingerprint: z.string() }))
      .exactOptional(),
    output_sinks: z
      .array(
        z.strictObject({
          sink_id: idSchema,
          delivery_policy_ref: policyRefSchema,
          sink_capability_version: z.string().exactOptional(),
        }),
      )
      .exactOptional(),
    capabilities: z.array(capabilitySchema).exactOptional(),
    sidecars: z.array(sidecarSchema).exactOptional(),
    hooks: z.array(hookSchema).exactOptional(),
    isolation_requirements: z
      .array(
        z.strictObject({
          isolation_ref: idSchema,
          minimum_class: vocabulary(ISOLATION_CLASSES),
          policy_ref: policyRefSchema,
        }),
      )
      .exactOptional(),
    catalogs: z.array(catalogSchema).exactOptional(),
    child_lifecycle: childLifecycleSchema.exactOptional(),
    policies: z.strictObject({ policy_refs: z.array(policyRefSchema).default([]) }).exactOptional(),
    fingerprint_manifest: z.unknown().optional(),
    volatile: volatileSchema.exactOptional(),
  })
  .transform(({ fingerprint_manifest: _computed, ...input }) => createPackage(input));

/** The value as a package. Throws E_VALIDATION_FAIL with every problem in `details.problems`. */
export function parsePackage(value: unknown): RuntimePackage {
  return parseForeign(runtimePackageSchema, value, 'Runtime package');
}
