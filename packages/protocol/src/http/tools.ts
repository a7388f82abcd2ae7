/** Body of the route that lists tools. Only what every client needs is pinned down; a listing may say more. */
import { z } from 'zod';

export const toolListSchema = z
  .strictObject({
    tools: z.array(z.looseObject({ name: z.string() })).readonly(),
    hidden: z
      .array(z.looseObject({ name: z.string(), reason: z.string() }))
      .readonly()
      .describe('Tools the session may not use, and why'),
  })
  .meta({ id: 'ToolList' });
export type ToolList = Readonly<z.infer<typeof toolListSchema>>;
