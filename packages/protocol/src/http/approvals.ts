/** Bodies of the approval routes. */
import { z } from 'zod';
import { idSchema, timestampSchema } from '../envelopes/fields.ts';
import { approvalAnswerSchema, approvalWordSchema } from '../envelopes/from-client/approval-answer.ts';
import { jsonObjectSchema } from '../envelopes/json.ts';

/** A command that ran on an overlay before anyone is asked (`ask: with_effects`). */
const ranSchema = z
  .strictObject({
    exit_code: z.int().nullable(),
    stdout: z.string(),
    stderr: z.string(),
    total: z.int(),
    diff: z.string(),
    left_out: z.array(z.strictObject({ path: z.string(), reason: z.string() }).readonly()).readonly(),
  })
  .readonly();

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
    /**
     * Diff of what it writes, arguments and folder of a command, or address of a request; masked, and cut when long. `effects`: a
     * command that ran on an overlay; a yes makes exactly its changes real.
     */
    effect: z
      .strictObject({
        kind: z.enum(['diff', 'command', 'request', 'effects']),
        text: z.string(),
        ran: ranSchema.exactOptional(),
      })
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
