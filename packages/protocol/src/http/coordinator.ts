/**
 * What a runtime sends to a coordinator that it reaches over HTTP, and the answers it accepts.
 *
 * `POST {url}/policy` and `{url}/budget` carry a CoordinatorCall, `{url}/plan` a CoordinatorPlan, `{url}/spend` a
 * CoordinatorSpend. Answers are read strictly: anything else counts as no answer.
 */
import { z } from 'zod';
import { idSchema } from '../envelopes/fields.ts';
import { jsonObjectSchema } from '../envelopes/json.ts';

export const VERDICTS = ['allow', 'ask', 'deny'] as const;
export const verdictSchema = z.enum(VERDICTS);

const reasonCode = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/, 'must be a code: letters, digits and _ . : -')
  .describe('Code for programs, such as freeze.release');
const message = z.string().max(2000).describe('Words for people');

export const coordinatorVerdictSchema = z
  .strictObject({ verdict: verdictSchema, reason: reasonCode, message: message.exactOptional() })
  .meta({ id: 'CoordinatorVerdict' });
export type CoordinatorVerdict = Readonly<z.infer<typeof coordinatorVerdictSchema>>;

/** A budget is available or not: there is no one to ask for it. */
export const coordinatorBudgetSchema = z
  .strictObject({ verdict: z.enum(['allow', 'deny']), reason: reasonCode, message: message.exactOptional() })
  .meta({ id: 'CoordinatorBudget' });
export type CoordinatorBudget = Readonly<z.infer<typeof coordinatorBudgetSchema>>;

const identity = { call_id: idSchema, session_id: idSchema, tool: idSchema, actor: z.string(), client: z.string() };

const profileSchema = z.strictObject({
  kind: z.string(),
  side_effect_level: z.string(),
  effect: z.string(),
  risk: z.string(),
});

const shared = {
  args_hash: z.string().describe('Keyed digest: equal arguments of one runtime have equal ones'),
  args_summary: z.string().describe('One redacted line'),
  paths: z.array(z.string()).readonly(),
  args: jsonObjectSchema.exactOptional().describe('Only where the registry says coordinator.share_args'),
};

export const coordinatorCallSchema = z
  .strictObject({
    ...identity,
    request_id: idSchema,
    ...shared,
    args_omitted: z.literal(true).exactOptional().describe('They may be shared, and are too large to send'),
    profile: profileSchema,
    mutation_class: z.string(),
  })
  .meta({ id: 'CoordinatorCall' });
export type CoordinatorCallBody = Readonly<z.infer<typeof coordinatorCallSchema>>;

const coordinatorStepSchema = z.strictObject({
  tool: z.string(),
  verdict: verdictSchema.describe('The verdict of the gates of the runtime'),
  ...shared,
  profile: profileSchema.exactOptional().describe('Left out for steps that were not understood'),
});

export const coordinatorPlanSchema = z
  .strictObject({
    plan_id: idSchema,
    session_id: idSchema,
    actor: z.string(),
    client: z.string(),
    note: z.string().exactOptional(),
    args_omitted: z.literal(true).exactOptional(),
    steps: z.array(coordinatorStepSchema).readonly(),
  })
  .meta({ id: 'CoordinatorPlan' });
export type CoordinatorPlanBody = Readonly<z.infer<typeof coordinatorPlanSchema>>;

export const coordinatorSpendSchema = z
  .strictObject({
    spent: z
      .array(
        z.strictObject({
          ...identity,
          status: z.string(),
          bytes: z.number().nonnegative(),
          duration_ms: z.number().nonnegative(),
        }),
      )
      .readonly()
      .describe('May come twice after a lost answer: count each call_id once'),
    dropped: z.int().nonnegative().describe('Calls that could not be reported because too many were waiting'),
  })
  .meta({ id: 'CoordinatorSpend' });
export type CoordinatorSpendBody = Readonly<z.infer<typeof coordinatorSpendSchema>>;
