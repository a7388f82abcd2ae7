/** Asks to stop a running call. It has no answer of its own: the call's one terminal message says how it ended. */
import { z } from 'zod';
import { idSchema, timestampSchema } from '../fields.ts';

export const cancelRequestSchema = z
  .strictObject({
    type: z.literal('CancelRequest'),
    request_id: idSchema,
    session_id: idSchema,
    timestamp: timestampSchema,
  })
  .meta({ id: 'CancelRequest' });

export type CancelRequest = Readonly<z.infer<typeof cancelRequestSchema>>;
