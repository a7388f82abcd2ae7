/** The terminal answer of a call that reached a session, whether it worked or not. */
import { z } from 'zod';
import { errorEntrySchema, idSchema } from '../fields.ts';
import { jsonValueSchema } from '../json.ts';

export const toolResponseSchema = z
  .strictObject({
    type: z.literal('ToolResponse'),
    ok: z.boolean(),
    tool: idSchema,
    request_id: idSchema,
    duration_ms: z.number().nonnegative(),
    /** How long a person took to answer; not part of `duration_ms`. Left out for none. */
    waited_ms: z.number().nonnegative().optional(),
    /** Null when the call has nothing to pass on. */
    data: jsonValueSchema,
    errors: z.array(errorEntrySchema).readonly(),
    warnings: z.array(errorEntrySchema).readonly(),
    /** Known secrets that were masked in what the call answered, printed or kept; left out for none. */
    redacted: z.int().positive().optional(),
    /** The change set of what the call changed in files; left out for nothing. */
    change_id: idSchema.optional(),
  })
  .meta({ id: 'ToolResponse' });

export type ToolResponse = Readonly<z.infer<typeof toolResponseSchema>>;
