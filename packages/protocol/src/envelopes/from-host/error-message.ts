/** A failure of the envelope, the session or the host, where no call exists that could answer. */
import { z } from 'zod';
import { ERROR_CODES } from '../../primitives/errors.ts';
import { idSchema } from '../fields.ts';
import { jsonObjectSchema } from '../json.ts';

export const errorMessageSchema = z
  .strictObject({
    type: z.literal('ErrorMessage'),
    code: z.enum(ERROR_CODES),
    message: z.string(),
    /** Null when the failed message gave no id that could be trusted. */
    request_id: idSchema.nullable(),
    details: jsonObjectSchema.exactOptional(),
  })
  .meta({ id: 'ErrorMessage' });

export type ErrorMessage = Readonly<z.infer<typeof errorMessageSchema>>;
