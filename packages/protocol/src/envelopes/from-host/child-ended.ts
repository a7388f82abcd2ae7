/** The answer to a ChildEnd: the child is over, and this is what it used. */
import { z } from 'zod';
import { usageSchema } from '../children.ts';
import { idSchema } from '../fields.ts';

export const childEndedSchema = z
  .strictObject({
    type: z.literal('ChildEnded'),
    request_id: idSchema,
    /** Of the child. */
    session_id: idSchema,
    usage: usageSchema.readonly(),
  })
  .meta({ id: 'ChildEnded' });

export type ChildEnded = Readonly<z.infer<typeof childEndedSchema>>;
