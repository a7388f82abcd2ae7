/**
 * The answer of a batch: one terminal message per call, in the order of release. That is the order of the calls for the
 * strategies `sequential` and `ordered_batch`, and the order in which they ended for `bounded_concurrent`.
 */
import { z } from 'zod';
import { idSchema } from '../fields.ts';
import { errorMessageSchema } from './error-message.ts';
import { toolResponseSchema } from './tool-response.ts';

export const batchResponseSchema = z
  .strictObject({
    type: z.literal('BatchResponse'),
    request_id: idSchema,
    /** An ErrorMessage is the refusal of one call, such as one with an id that was used before. */
    responses: z.array(z.discriminatedUnion('type', [toolResponseSchema, errorMessageSchema])).readonly(),
  })
  .meta({ id: 'BatchResponse' });

export type BatchResponse = Readonly<z.infer<typeof batchResponseSchema>>;
