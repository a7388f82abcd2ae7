/** Sign of life, in both directions. It is not answered: two sides that echo would never stop. */
import { z } from 'zod';
import { idSchema, timestampSchema } from '../fields.ts';

export const heartbeatSchema = z
  .strictObject({
    type: z.literal('Heartbeat'),
    session_id: idSchema,
    timestamp: timestampSchema,
  })
  .meta({ id: 'Heartbeat' });

export type Heartbeat = Readonly<z.infer<typeof heartbeatSchema>>;
