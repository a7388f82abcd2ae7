/**
 * Ends a child session: for its parent, or for the client that holds it on this connection. Answered by exactly one ChildEnded or
 * ErrorMessage; refused with reason `children_open` while the child has children, unless it is cancelled.
 */
import { z } from 'zod';
import { idSchema } from '../fields.ts';

export const childEndSchema = z
  .strictObject({
    type: z.literal('ChildEnd'),
    request_id: idSchema,
    /** Of the child. */
    session_id: idSchema,
    /** What becomes of running calls; `wait` by default. */
    mode: z.enum(['wait', 'cancel']).exactOptional(),
  })
  .meta({ id: 'ChildEnd' });

export type ChildEnd = Readonly<z.infer<typeof childEndSchema>>;
