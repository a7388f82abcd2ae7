/** The schema of one element of `errors[]` or `warnings[]`; its type is in errors.ts. */
import { z } from 'zod';
import { ERROR_CODES } from '../primitives/errors.ts';
import { jsonObjectSchema } from './json.ts';

export const errorEntrySchema = z
  .strictObject({
    code: z.enum(ERROR_CODES),
    message: z.string(),
    path: z.string().exactOptional(),
    details: jsonObjectSchema.exactOptional(),
  })
  .readonly();
