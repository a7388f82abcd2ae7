/** The host's first message on a connection: which session this is, and whether it may be used. */
import { z } from 'zod';
import { idSchema, timestampSchema } from '../fields.ts';

export const sessionAckSchema = z
  .strictObject({
    type: z.literal('SessionAck'),
    session_id: idSchema,
    accepted: z.boolean(),
    server_version: z.string().min(1),
    timestamp: timestampSchema,
  })
  .meta({ id: 'SessionAck' });

export type SessionAck = Readonly<z.infer<typeof sessionAckSchema>>;
