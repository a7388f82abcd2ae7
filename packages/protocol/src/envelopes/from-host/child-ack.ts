/** The answer to a ChildOpen: the child is there, and this is what it may do. */
import { z } from 'zod';
import { childFields } from '../children.ts';
import { idSchema } from '../fields.ts';

export const childAckSchema = z
  .strictObject({
    type: z.literal('ChildAck'),
    request_id: idSchema,
    /** Of the child. */
    session_id: idSchema,
    tools: z.array(z.string()).readonly(),
    side_effect_level: z.string(),
    ...childFields,
    /** Reaches the child alone, from other connections. Missing where the connection is all there is, as on stdio. */
    token: z.string().exactOptional(),
    /** How long it may stay silent. Missing where it ends with the connection only. */
    heartbeat_timeout_ms: z.int().positive().exactOptional(),
  })
  .meta({ id: 'ChildAck' });

export type ChildAck = Readonly<z.infer<typeof childAckSchema>>;
