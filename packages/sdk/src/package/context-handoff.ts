/**
 * How much of the parent's conversation a child is given: by reference, under a named policy, or not at all.
 *
 * The tag of a variant is its name wherever it is recorded. Nothing here opens what a ref points at.
 */
import type { ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { contractViolation } from '../contracts/failures.ts';
import type { ContentRef, PolicyRef } from '../contracts/refs.ts';
import { explicitPolicyProblems, idProblems, throwProblems, unknownValue } from './problems.ts';
import { idSchema, policyRefSchema } from './reference-schemas.ts';

export type ContextHandoff =
  | { readonly type: 'none' }
  | {
      readonly type: 'summary_only';
      readonly summary_ref: ContentRef;
      readonly max_tokens: number;
      readonly policy_ref: PolicyRef;
    }
  | { readonly type: 'selected_refs'; readonly refs: readonly ContentRef[]; readonly policy_ref: PolicyRef }
  | {
      readonly type: 'full_history_with_policy';
      readonly policy_ref: PolicyRef;
      /** Must be true: a whole history crosses to a child only with evidence of what was projected. */
      readonly projection_audit_required: boolean;
    };

export type HandoffVariant = ContextHandoff['type'];

export const NO_HANDOFF: ContextHandoff = Object.freeze({ type: 'none' });

/** Throws E_VALIDATION_FAIL naming the variant; `details.problems` lists everything that is wrong with it. */
export function validateHandoff(handoff: ContextHandoff): void {
  throwProblems(handoffProblems(handoff));
}

export function handoffPolicyRefs(handoff: ContextHandoff): readonly PolicyRef[] {
  return handoff.type === 'none' ? [] : [handoff.policy_ref];
}

/** What is passed on by name. A full history is not: its policy says what of it may be read. */
export function handoffContentRefs(handoff: ContextHandoff): readonly ContentRef[] {
  if (handoff.type === 'summary_only') return [handoff.summary_ref];
  return handoff.type === 'selected_refs' ? handoff.refs : [];
}

const contentRefSchema: z.ZodType<ContentRef> = z.strictObject({
  id: idSchema,
  digest: z.string().exactOptional(),
  bytes: z.number().exactOptional(),
});

/** Shape only; whether the handoff is allowed is for `validateHandoff`. Left out means none. */
export const handoffSchema: z.ZodType<ContextHandoff> = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('none') }),
    z.strictObject({
      type: z.literal('summary_only'),
      summary_ref: contentRefSchema,
      max_tokens: z.number(),
      policy_ref: policyRefSchema,
    }),
    z.strictObject({
      type: z.literal('selected_refs'),
      refs: z.array(contentRefSchema),
      policy_ref: policyRefSchema,
    }),
    z.strictObject({
      type: z.literal('full_history_with_policy'),
      policy_ref: policyRefSchema,
      projection_audit_required: z.boolean(),
    }),
  ])
  .default(NO_HANDOFF);

function handoffProblems(handoff: ContextHandoff): ToolError[] {
  if (handoff.type === 'none') return [];
  const at = `handoff.${handoff.type}`;
  switch (handoff.type) {
    case 'summary_only':
      return [...summaryProblems(handoff, at), ...explicitPolicyProblems(handoff.policy_ref, `${at}.policy_ref`)];
    case 'selected_refs':
      return [
        ...selectionProblems(handoff.refs, at),
        ...explicitPolicyProblems(handoff.policy_ref, `${at}.policy_ref`),
      ];
    case 'full_history_with_policy':
      return [...auditProblems(handoff, at), ...explicitPolicyProblems(handoff.policy_ref, `${at}.policy_ref`)];
    default:
      return [unknownValue('handoff.type')];
  }
}

function summaryProblems(handoff: ContextHandoff & { readonly type: 'summary_only' }, at: string): ToolError[] {
  const problems = idProblems({ id: handoff.summary_ref.id }, `${at}.summary_ref`);
  if (Number.isSafeInteger(handoff.max_tokens) && handoff.max_tokens > 0) return problems;
  const field = `${at}.max_tokens`;
  return [contractViolation(`Token budget is not a positive whole number: ${field}`, { field }), ...problems];
}

function selectionProblems(refs: readonly ContentRef[], at: string): ToolError[] {
  const field = `${at}.refs`;
  if (refs.length > 0) return refs.flatMap(({ id }, index) => idProblems({ id }, `${field}[${index}]`));
  const next = 'Name at least one content ref, or hand over none';
  return [contractViolation(`Selection is empty: ${field}`, { field, next })];
}

function auditProblems(
  handoff: ContextHandoff & { readonly type: 'full_history_with_policy' },
  at: string,
): ToolError[] {
  if (handoff.projection_audit_required === true) return [];
  const field = `${at}.projection_audit_required`;
  return [contractViolation(`Full history needs a projection audit: ${field}`, { field })];
}
