/**
 * Opens a child of a session on this connection, which may then call in the child's name too.
 *
 * Answered by exactly one ChildAck or ErrorMessage. The id must be new in the parent's session, like that of a call.
 */
import { z } from 'zod';
import { openChildFields } from '../children.ts';
import { idSchema } from '../fields.ts';

export const childOpenSchema = z
  .strictObject({
    type: z.literal('ChildOpen'),
    request_id: idSchema,
    /** Of the parent. */
    session_id: idSchema,
    ...openChildFields,
  })
  .meta({ id: 'ChildOpen' });

export type ChildOpen = Readonly<z.infer<typeof childOpenSchema>>;
