/** What an approver says to a question. The first answer counts; a later one is refused with `already_answered`. */
import { z } from 'zod';
import { idSchema } from '../fields.ts';
import { jsonObjectSchema } from '../json.ts';

export const approvalWordSchema = z.enum(['approved', 'approved_for_session', 'denied']);

export const approvalAnswerSchema = z
  .strictObject({
    type: z.literal('ApprovalAnswer'),
    approval_id: idSchema,
    answer: approvalWordSchema,
    reason: z.string().max(500).exactOptional(),
    /** Arguments to use instead; they are checked again from the start. */
    args: jsonObjectSchema.exactOptional(),
  })
  .meta({ id: 'ApprovalAnswer' });

export type ApprovalAnswer = Readonly<z.infer<typeof approvalAnswerSchema>>;
