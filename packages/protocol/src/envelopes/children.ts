/**
 * Bodies of the routes for child sessions: what a parent gives to a child, and the outcome.
 *
 * Shape only. The runtime checks that the parent has what it passes on; a request for more is refused.
 */
import { z } from 'zod';
import { idSchema } from './fields.ts';
import { capabilitiesSchema, heartbeatTimeoutSchema, registryTextSchema, sessionOpenedSchema } from './sessions.ts';

const idListSchema = z.array(idSchema).max(1024).readonly();
const countSchema = z.int().nonnegative();

const policyRefSchema = z
  .strictObject({
    kind: z.enum([
      'approval',
      'permission',
      'sandbox',
      'context',
      'privacy',
      'retention',
      'redaction',
      'runtime_package',
      'host',
    ]),
    id: idSchema,
    version: idSchema.exactOptional(),
  })
  .meta({ id: 'PolicyRef' });

const contentRefSchema = z.strictObject({
  id: idSchema,
  digest: z.string().max(512).exactOptional(),
  bytes: z.number().nonnegative().exactOptional(),
});

const toolPolicySchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('inherit_allowlist') }),
  z.strictObject({ type: z.literal('read_only') }),
  z.strictObject({ type: z.literal('no_tools') }),
  z.strictObject({ type: z.literal('custom_allowlist'), capability_ids: idListSchema }),
]);

const handoffSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('none') }),
  z.strictObject({
    type: z.literal('summary_only'),
    summary_ref: contentRefSchema,
    max_tokens: z.int().positive(),
    policy_ref: policyRefSchema,
  }),
  z.strictObject({
    type: z.literal('selected_refs'),
    refs: z.array(contentRefSchema).max(1024).readonly(),
    policy_ref: policyRefSchema,
  }),
  z.strictObject({
    type: z.literal('full_history_with_policy'),
    policy_ref: policyRefSchema,
    projection_audit_required: z.boolean().describe('Must be true'),
  }),
]);

const routeSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('inherit_parent') }),
  z.strictObject({ type: z.literal('use_allowed_override'), route_id: idSchema, model_id: idSchema }),
]);

/** Also the fields of the envelope that opens one. */
export const openChildFields = {
  agent_id: idSchema.describe('Who the child is'),
  tools: z
    .union([idListSchema, toolPolicySchema])
    .exactOptional()
    .describe("What it keeps of the parent's tools: names, or a policy; what only reads when left out"),
  handoff: handoffSchema.exactOptional().describe("What it is given of the parent's conversation; nothing by default"),
  route: routeSchema.exactOptional().describe('Which model it talks to'),
  allowed_routes: idListSchema.exactOptional().describe("Routes that `route` may choose in addition to the parent's"),
  // Without words of its own: beside a reference some readers allow none.
  capabilities: capabilitiesSchema.exactOptional(),
  registry: registryTextSchema.exactOptional().describe("YAML text that narrows the parent's registry"),
  folder: z
    .string()
    .min(1)
    .max(4096)
    .exactOptional()
    .describe("Folder of the parent's workspace that becomes the whole workspace of the child"),
  workspace: z
    .string()
    .min(1)
    .max(200)
    .exactOptional()
    .describe(
      'Another workspace of the fleet, where the child works on the host that holds it; `folder` is one of its folders',
    ),
  budget: z
    .strictObject({
      max_calls: countSchema.exactOptional(),
      max_bytes: countSchema.exactOptional(),
      max_duration_ms: countSchema.exactOptional(),
    })
    .exactOptional()
    .describe("Carved out of the parent's"),
  depth: z
    .strictObject({ max_depth: countSchema.exactOptional(), max_children: countSchema.exactOptional() })
    .exactOptional()
    .describe('Lowers how deep below it, and how many, children of its own may be'),
  lifecycle: z
    .enum(['parent_owned', 'reclaimable'])
    .exactOptional()
    .describe('A reclaimable child outlives a parent that is gone'),
  heartbeat_timeout_ms: heartbeatTimeoutSchema
    .exactOptional()
    .describe('It expires, and its calls are cancelled, when no message comes for so long'),
};

export const openChildSchema = z.strictObject(openChildFields).meta({ id: 'OpenChild' });
export type OpenChildBody = Readonly<z.infer<typeof openChildSchema>>;

const stripManifestSchema = z
  .strictObject({
    parent_package_fingerprint: z.string(),
    child_agent_id: z.string(),
    selected_provider_route_id: z.string(),
    handoff_policy_variant: z.enum(['none', 'summary_only', 'selected_refs', 'full_history_with_policy']),
    tool_policy: toolPolicySchema.readonly(),
    recursive_subagent_strip: z.literal(true),
    stripped_capability_ids: z.array(z.string()).readonly(),
    retained_capability_ids: z.array(z.string()).readonly(),
    lifecycle_policy_ref: policyRefSchema.readonly(),
    redaction_policy_ref: policyRefSchema.readonly(),
  })
  .meta({ id: 'StripManifest', description: "Every capability of the parent's package, kept or stripped" });

/** What is reported of a child, over every transport. */
export const childFields = {
  parent_session_id: idSchema,
  agent_id: idSchema,
  package_fingerprint: z.string().describe('Of the package that was cut for it'),
  manifest: stripManifestSchema.readonly(),
  handoff: z
    .strictObject({
      variant: stripManifestSchema.shape.handoff_policy_variant,
      refs: z.array(contentRefSchema.readonly()).readonly(),
      policy_refs: z.array(policyRefSchema.readonly()).readonly(),
      audit_ref: z
        .string()
        .exactOptional()
        .describe('Where in the journal to find a history that was handed over whole'),
    })
    .readonly(),
  depth: z.strictObject({ current_depth: countSchema, max_depth: countSchema, max_children: countSchema }).readonly(),
};

export const childOpenedSchema = sessionOpenedSchema.extend(childFields).meta({ id: 'ChildOpened' });
export type ChildOpened = Readonly<z.infer<typeof childOpenedSchema>>;

export const usageSchema = z
  .strictObject({
    calls: countSchema,
    errors: countSchema,
    bytes: z.number().nonnegative(),
    duration_ms: z.number().nonnegative(),
  })
  .meta({ id: 'Usage', description: 'Of a child and of the children it had itself' });
export type SessionUsage = Readonly<z.infer<typeof usageSchema>>;

/** What a host asks of another one when a child of a session there is to work here. */
export const takeChildSchema = z
  .strictObject({
    token: z.string().min(1).max(512).describe("The child's own, which its client has shown"),
    holder: idSchema.describe('Random: under it the same host comes back after a break'),
  })
  .meta({ id: 'TakeChild' });
export type TakeChildBody = Readonly<z.infer<typeof takeChildSchema>>;

/** Small enough that sums of many stay exact. */
const reportedSchema = z.number().nonnegative().max(1e15);

export const reportChildSchema = z
  .strictObject({
    holder: idSchema,
    usage: z
      .strictObject({
        calls: countSchema.max(1e15),
        errors: countSchema.max(1e15),
        bytes: reportedSchema,
        duration_ms: reportedSchema,
      })
      .readonly()
      .describe('All of it so far'),
    spent: z
      .strictObject({
        max_calls: reportedSchema.exactOptional(),
        max_bytes: reportedSchema.exactOptional(),
        max_duration_ms: reportedSchema.exactOptional(),
      })
      .readonly()
      .describe('How much of its share, so far; calls that were refused are in `usage` alone'),
    ended: z.enum(['completed', 'cancelled', 'expired']).exactOptional().describe('It is the last report'),
  })
  .meta({ id: 'ReportChild' });
export type ReportChildBody = Readonly<z.infer<typeof reportChildSchema>>;

export const detachChildSchema = z
  .strictObject({
    acknowledged_by: idSchema.describe('Who takes the child over'),
    reclaim: policyRefSchema.describe('Under which policy it may be taken back'),
  })
  .meta({ id: 'DetachChild' });
export type DetachChildBody = Readonly<z.infer<typeof detachChildSchema>>;
