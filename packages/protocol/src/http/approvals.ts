/** Bodies of the approval routes. */
import { z } from 'zod';
import { idSchema, timestampSchema } from '../envelopes/fields.ts';
import { approvalAnswerSchema, approvalWordSchema } from '../envelopes/from-client/approval-answer.ts';
import { jsonObjectSchema } from '../envelopes/json.ts';

export const pendingApprovalSchema = z
  .strictObject({
    approval_id: idSchema,
    session_id: idSchema,
    request_id: idSchema.exactOptional(),
    call_id: idSchema,
    tool: idSchema,
    args: jsonObjectSchema,
    summary: z.string(),
    paths: z.array(z.string()).readonly(),
    /** Diff of what it writes, arguments and folder of a command, or address of a request; masked, and cut when long. */
    effect: z
      .strictObject({ kind: z.enum(['diff', 'command', 'request']), text: z.string() })
      .readonly()
      .exactOptional(),
    /** Which other calls a yes for the session covers. */
    scope: z.string().exactOptional(),
    actor: z.string(),
    /** Gate, rule or policy that wants a yes. */
    reason: z.string(),
    allowed_answers: z.array(approvalWordSchema).readonly(),
    asked_at: timestampSchema,
    expires_at: timestampSchema,
  })
  .meta({ id: 'PendingApproval' });
export type PendingApproval = Readonly<z.infer<typeof pendingApprovalSchema>>;

export const answerApprovalSchema = approvalAnswerSchema
  .omit({ type: true, approval_id: true })
  .meta({ id: 'AnswerApproval' });
export type AnswerApprovalBody = Readonly<z.infer<typeof answerApprovalSchema>>;

export const approvalAnsweredSchema = z
  .strictObject({ approval_id: idSchema, answer: approvalWordSchema, by: z.string() })
  .meta({ id: 'ApprovalAnswered' });
export type ApprovalAnswered = Readonly<z.infer<typeof approvalAnsweredSchema>>;
