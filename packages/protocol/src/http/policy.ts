/** Bodies of the policy routes: what a registry would answer to calls, and what another one would change. */
import { z } from 'zod';
import { errorEntrySchema, idSchema } from '../envelopes/fields.ts';
import { jsonObjectSchema, jsonValueSchema } from '../envelopes/json.ts';
import { verdictSchema } from './coordinator.ts';

const MAX_REGISTRY_CHARS = 65_536;

const registryTextSchema = z.string().max(MAX_REGISTRY_CHARS).describe('A registry, as YAML');
const workspaceSchema = z.string().exactOptional().describe('A folder the host serves; the first one by default');
const sinceSchema = z
  .number()
  .min(0)
  .exactOptional()
  .describe('Only calls made at or after this time, in ms of the epoch');

export const explainBodySchema = z
  .strictObject({
    session_id: idSchema
      .exactOptional()
      .describe('The session that would make the call; by default a new one in the first workspace'),
    tool: z.string().min(1).max(256),
    args: jsonObjectSchema,
    registry: registryTextSchema
      .exactOptional()
      .describe('Judge under this registry instead of the one in force, as YAML'),
  })
  .meta({ id: 'PolicyExplainBody' });
export type ExplainBody = Readonly<z.infer<typeof explainBodySchema>>;

const gateAnswerSchema = z.strictObject({
  gate: z.string(),
  answer: z
    .enum(['allow', 'ask', 'deny', 'not_asked'])
    .describe('not_asked: it cannot be asked in a rehearsal, or the call was not understood'),
  code: z.string().exactOptional().describe('Why, as a short code'),
  message: z.string().exactOptional(),
  rules: z.array(z.string()).readonly().exactOptional().describe('The rules that were asked'),
  rule: z.string().exactOptional().describe('The rule that refuses'),
  field: z.string().exactOptional().describe('The key of the registry that decides'),
  registry: z.string().exactOptional().describe('file:line of that key; left out where it is not written'),
  next: z.string().exactOptional(),
});
export type GateReport = Readonly<z.infer<typeof gateAnswerSchema>>;

const registryEditSchema = z.strictObject({
  op: z.enum(['add', 'remove', 'set', 'unset']).describe('add and remove: an entry of a list; set and unset: a key'),
  path: z.string().describe('Dotted path of the list or key'),
  value: jsonValueSchema.exactOptional(),
  registry: z.string().exactOptional().describe('file:line of the list or key; left out where it is not written'),
});
export type RegistryEdit = Readonly<z.infer<typeof registryEditSchema>>;

const registryChangeSchema = z
  .strictObject({
    decision: verdictSchema.describe('The answer after the change; it was applied in memory and the call judged again'),
    edits: z.array(registryEditSchema).min(1).readonly(),
    text: z.string().describe('The edits as text for people'),
  })
  .meta({ id: 'PolicyChange' });
export type RegistryChange = Readonly<z.infer<typeof registryChangeSchema>>;

export const explanationSchema = z
  .strictObject({
    decision: verdictSchema.describe('ask: the call will need an approval'),
    code: z.string().describe('Why, as a short code'),
    tool: z.string(),
    gates: z.array(gateAnswerSchema).readonly().describe('Every gate in order'),
    change: registryChangeSchema
      .nullable()
      .describe('The smallest change of the registry that turns the answer; null where none was found'),
    errors: z.array(errorEntrySchema).readonly(),
    warnings: z.array(errorEntrySchema).readonly(),
    paths: z.array(z.string()).readonly(),
    side_effect_level: z.string().nullable().describe('Null for a tool that does not exist'),
    fingerprint: z.string().describe('Of the registry that was asked'),
  })
  .meta({ id: 'PolicyExplanation' });
export type PolicyExplanation = Readonly<z.infer<typeof explanationSchema>>;

export const checkBodySchema = z
  .strictObject({ registry: registryTextSchema.exactOptional(), workspace: workspaceSchema })
  .meta({ id: 'PolicyCheckBody' });
export type CheckBody = Readonly<z.infer<typeof checkBodySchema>>;

const exampleResultSchema = z.strictObject({
  holds: z.boolean(),
  expected: verdictSchema,
  decision: verdictSchema.nullable().describe('Null where the example cannot be judged from its arguments'),
  tool: z.string(),
  args: jsonObjectSchema,
  path: z.string().describe('Where the example is written'),
  registry: z.string().describe('file:line'),
  message: z.string().exactOptional().describe('Why it does not hold'),
});
export type ExampleResult = Readonly<z.infer<typeof exampleResultSchema>>;

export const policyCheckSchema = z
  .strictObject({
    ok: z.boolean(),
    examples: z.int(),
    failed: z.int(),
    results: z.array(exampleResultSchema).readonly(),
  })
  .meta({ id: 'PolicyCheck' });
export type PolicyCheck = Readonly<z.infer<typeof policyCheckSchema>>;

export const simulateBodySchema = z
  .strictObject({ registry: registryTextSchema, since: sinceSchema, workspace: workspaceSchema })
  .meta({ id: 'PolicySimulateBody' });
export type SimulateBody = Readonly<z.infer<typeof simulateBodySchema>>;

const changedCallSchema = z.strictObject({
  call_id: z.string(),
  at_ms: z.number(),
  tool: z.string(),
  summary: z.string().describe('The arguments, redacted'),
  from: verdictSchema,
  to: verdictSchema,
  code: z.string().describe('Why, under the other registry'),
  message: z.string().exactOptional(),
  registry: z.string().exactOptional().describe('file:line of the other registry that decides'),
});
export type ChangedCall = Readonly<z.infer<typeof changedCallSchema>>;

const groupSchema = z.strictObject({
  tool: z.string(),
  from: verdictSchema,
  to: verdictSchema,
  count: z.int(),
  examples: z.array(changedCallSchema).readonly(),
});

const unjudgedSchema = z.strictObject({
  reason: z.string(),
  count: z.int(),
  call_ids: z.array(z.string()).readonly().describe('The first of them'),
});

export const simulationSchema = z
  .strictObject({
    changed: z.int().describe('Calls that the other registry answers differently'),
    calls: z.int().describe('Recorded calls that were looked at'),
    judged: z.int(),
    groups: z.array(groupSchema).readonly().describe('What changes, by tool'),
    not_judged: z.array(unjudgedSchema).readonly().describe('Calls that cannot be judged again, by reason'),
  })
  .meta({ id: 'PolicySimulation' });
export type PolicySimulation = Readonly<z.infer<typeof simulationSchema>>;

export const suggestBodySchema = z
  .strictObject({ since: sinceSchema, workspace: workspaceSchema })
  .meta({ id: 'PolicySuggestBody' });
export type SuggestBody = Readonly<z.infer<typeof suggestBodySchema>>;

export const suggestionSchema = z
  .strictObject({
    registry: z.string().describe('The registry, as YAML with a comment for every line'),
    calls: z.int().describe('Calls it was made from'),
    left_out: z.array(unjudgedSchema).readonly().describe('Recorded calls it does not speak for, by reason'),
  })
  .meta({ id: 'PolicySuggestion' });
export type PolicySuggestion = Readonly<z.infer<typeof suggestionSchema>>;

export const diffBodySchema = z
  .strictObject({ a: registryTextSchema, b: registryTextSchema, workspace: workspaceSchema })
  .meta({ id: 'PolicyDiffBody' });
export type DiffBody = Readonly<z.infer<typeof diffBodySchema>>;

const effectChangeSchema = z.strictObject({
  kind: z.enum(['tool', 'path', 'program', 'host', 'rule', 'setting']),
  subject: z.string().describe('Tool, tool and path, command, host, rule or key'),
  from: z.string().describe('allow, ask or deny; for rules and settings what they are'),
  to: z.string(),
  registry: z.string().exactOptional().describe('file:line that decides in the second registry'),
});
export type EffectChange = Readonly<z.infer<typeof effectChangeSchema>>;

export const policyDiffSchema = z
  .strictObject({
    changed: z.int(),
    changes: z.array(effectChangeSchema).readonly(),
  })
  .meta({ id: 'PolicyDiff' });
export type PolicyDiff = Readonly<z.infer<typeof policyDiffSchema>>;
