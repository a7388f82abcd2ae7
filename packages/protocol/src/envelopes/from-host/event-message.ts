/** News about a call that is still running; never comes after its terminal message. */
import { z } from 'zod';
import { idSchema } from '../fields.ts';
import { jsonObjectSchema } from '../json.ts';

export const eventMessageSchema = z
  .strictObject({
    type: z.literal('EventMessage'),
    event: idSchema,
    request_id: idSchema,
    progress: z.strictObject({ pct: z.number().min(0).max(100), message: z.string() }).readonly(),
    session_id: idSchema.exactOptional(),
    /** Increasing per host: a client resumes a dropped stream after the last one it saw. */
    id: z.int().nonnegative().exactOptional(),
    data: jsonObjectSchema.exactOptional(),
  })
  .meta({ id: 'EventMessage' });

export type EventMessage = Readonly<z.infer<typeof eventMessageSchema>>;
