/** Reads capabilities from outside. What is left out gets the value that exposes least. */
import { z } from 'zod';
import { PRIVACY_CLASSES } from '../contracts/classes.ts';
import {
  CAPABILITY_KINDS,
  CAPABILITY_SOURCE_KINDS,
  CAPABILITY_VISIBILITIES,
  type CapabilitySpec,
  isReservedKind,
  READINESS_STATUSES,
} from './capability.ts';
import { idSchema, policyRefSchema, sidecarRefSchema, sourceRefSchema, vocabulary } from './reference-schemas.ts';

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

export const capabilitySourceKindSchema = vocabulary(CAPABILITY_SOURCE_KINDS);

export const capabilitySchema: z.ZodType<CapabilitySpec> = z
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
