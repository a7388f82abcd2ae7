/** Bodies of the plan route: calls that a client intends to make, and the verdicts of the gates and the coordinator. */
import { z } from 'zod';
import { errorEntrySchema, idSchema } from '../envelopes/fields.ts';
import { jsonObjectSchema } from '../envelopes/json.ts';
import { MAX_PLAN_NOTE_LENGTH, MAX_PLAN_STEPS } from '../primitives/safe-text.ts';
import { coordinatorVerdictSchema, verdictSchema } from './coordinator.ts';

export const planProposalSchema = z
  .strictObject({
    steps: z
      .array(z.strictObject({ tool: idSchema, args: jsonObjectSchema }))
      .min(1)
      .max(MAX_PLAN_STEPS)
      .readonly(),
    note: z.string().max(MAX_PLAN_NOTE_LENGTH).exactOptional().describe('What the plan is for; recorded, redacted'),
  })
  .meta({ id: 'PlanProposal' });
export type PlanProposal = Readonly<z.infer<typeof planProposalSchema>>;

const planStepSchema = z.strictObject({
  tool: z.string(),
  verdict: verdictSchema.describe('ask: the call will need an approval'),
  reason: z.string().exactOptional().describe('Code of what asks or denies'),
  errors: z.array(errorEntrySchema).readonly(),
  warnings: z.array(errorEntrySchema).readonly(),
  paths: z.array(z.string()).readonly(),
  side_effect_level: z.string().nullable().describe('Null for a tool that does not exist'),
});

export const planVerdictSchema = z
  .strictObject({
    plan_id: idSchema,
    accepted: z
      .boolean()
      .describe('No step is denied, and the coordinator, where one was reached, allows the plan; no promise'),
    steps: z.array(planStepSchema).readonly(),
    coordinator: coordinatorVerdictSchema.exactOptional(),
    errors: z.array(errorEntrySchema).readonly().describe('What speaks against the plan as a whole'),
    warnings: z.array(errorEntrySchema).readonly(),
  })
  .meta({ id: 'PlanVerdict' });
export type PlanVerdict = Readonly<z.infer<typeof planVerdictSchema>>;
export type PlanStepVerdict = PlanVerdict['steps'][number];
