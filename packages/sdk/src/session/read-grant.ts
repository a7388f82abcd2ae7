/** Reads the grant of a child as it came from another host. */
import { z } from 'zod';
import { SIDE_EFFECT_LEVELS } from '../contracts/annotations.ts';
import { contractViolation } from '../contracts/failures.ts';
import { childToolPolicySchema } from '../package/child-tool-policy.ts';
import { fingerprintPackage } from '../package/fingerprint.ts';
import { parseForeign } from '../package/problems.ts';
import { idSchema } from '../package/reference-schemas.ts';
import { parsePackage } from '../package/runtime-package-schema.ts';
import type { ChildGrant } from './child-grant.ts';

const count = z.int().nonnegative();
const names = z.array(z.string());

const grantSchema = z.strictObject({
  session_id: idSchema,
  agent_id: idSchema,
  actor: idSchema,
  package: z.unknown(),
  package_fingerprint: z.string(),
  tool_policy: childToolPolicySchema,
  registries: z.array(z.strictObject({ text: z.string(), file: z.string() })).min(1),
  durability: z.enum(['normal', 'full']),
  ceiling: z.strictObject({
    tools: names.exactOptional(),
    explicit_tools: names.exactOptional(),
    capabilities: z.record(z.string(), names).exactOptional(),
    side_effect_level: z.enum(SIDE_EFFECT_LEVELS).exactOptional(),
    recursion_limit: count.exactOptional(),
    tool_arg_constraints: z
      .array(z.strictObject({ tool: z.string(), arg_patterns: names, arg_key: z.string().exactOptional() }))
      .exactOptional(),
  }),
  budget: z.strictObject({
    max_calls: z.number().nonnegative().exactOptional(),
    max_bytes: z.number().nonnegative().exactOptional(),
    max_duration_ms: z.number().nonnegative().exactOptional(),
  }),
  depth: z.strictObject({ current_depth: count, max_depth: count, max_children: count }),
  folder: z.string().min(1).exactOptional(),
});

/** Throws E_VALIDATION_FAIL for anything that is no grant, and for a package that is not the one it names. */
export function readGrant(value: unknown): ChildGrant {
  const grant = parseForeign(grantSchema, value, 'Grant of a child');
  const found = parsePackage(grant.package);
  const fingerprint = fingerprintPackage(found);
  if (fingerprint === grant.package_fingerprint) return { ...grant, package: found };
  throw contractViolation('Package of the child is not the one that its parent cut', {
    reason: 'package_mismatch',
    expected: grant.package_fingerprint,
    found: fingerprint,
    next: 'run the same version on all hosts, and open the child again',
  });
}
