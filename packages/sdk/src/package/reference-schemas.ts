/**
 * Schemas of the refs that packages, routes and calls have in common, for JSON from outside.
 *
 * Objects are strict: an unknown field would escape the fingerprint.
 */
import { z } from 'zod';
import { PRIVACY_CLASSES, TRUST_CLASSES, toSnakeCase } from '../contracts/classes.ts';
import { checkId } from '../contracts/identifiers.ts';
import {
  DESTINATION_KINDS,
  type DestinationRef,
  POLICY_KINDS,
  type PolicyRef,
  SOURCE_KINDS,
  type SourceRef,
} from '../contracts/refs.ts';
import type { PackageSidecarRef } from './package-parts.ts';
import { problemsOf } from './problems.ts';

/** A closed vocabulary; `PreTool` reads as `pre_tool`. */
export function vocabulary<const Values extends readonly string[]>(values: Values) {
  return z.string().transform(toSnakeCase).pipe(z.enum(values));
}

export const idSchema = z.string().superRefine((value, context) => {
  const [problem] = problemsOf(() => checkId(value, 'id'));
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem.message });
});

export const policyRefSchema: z.ZodType<PolicyRef> = z.strictObject({
  kind: vocabulary(POLICY_KINDS).default('host'),
  id: idSchema,
  version: z.string().exactOptional(),
});

export const sourceRefSchema: z.ZodType<SourceRef> = z.strictObject({
  kind: vocabulary(SOURCE_KINDS).default('host'),
  id: idSchema,
  trust: vocabulary(TRUST_CLASSES).default('host_provided'),
  privacy: vocabulary(PRIVACY_CLASSES).default('content_refs_only'),
  correlation: z.array(z.string()).exactOptional(),
  redacted_summary: z.string().exactOptional(),
});

export const destinationRefSchema: z.ZodType<DestinationRef> = z.strictObject({
  kind: vocabulary(DESTINATION_KINDS),
  id: idSchema,
});

export const sidecarRefSchema: z.ZodType<PackageSidecarRef> = z.strictObject({
  sidecar_id: idSchema,
  kind: idSchema,
  version: idSchema,
  content_hash: z.string().exactOptional(),
});
