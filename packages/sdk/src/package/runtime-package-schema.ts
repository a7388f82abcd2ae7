/** Reads packages from outside. A manifest in the JSON is ignored: it is always computed. */
import { z } from 'zod';
import { TRUST_CLASSES } from '../contracts/classes.ts';
import { capabilitySchema, capabilitySourceKindSchema } from './capability-schema.ts';
import { HOOK_POINTS, HOOK_RIGHTS } from './hook-spec.ts';
import { ISOLATION_CLASSES } from './package-parts.ts';
import { parseForeign } from './problems.ts';
import { idSchema, policyRefSchema, sidecarRefSchema, sourceRefSchema, vocabulary } from './reference-schemas.ts';
import { createPackage, type RuntimePackage } from './runtime-package.ts';

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
