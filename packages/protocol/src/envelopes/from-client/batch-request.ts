/**
 * Several calls with one strategy: which of them may overlap, and in which order their answers are released.
 *
 * Answered by exactly one BatchResponse or ErrorMessage. A cancel of the batch cancels all its calls; each call can also be
 * cancelled by its own id. All ids must be new in the session.
 */
import { z } from 'zod';
import { batchStrategySchema, idSchema, MAX_BATCH_CALLS, timestampSchema } from '../fields.ts';
import { toolRequestSchema } from './tool-request.ts';

export const batchRequestSchema = z
  .strictObject({
    type: z.literal('BatchRequest'),
    request_id: idSchema,
    session_id: idSchema,
    timestamp: timestampSchema,
    /** One call after the other by default. */
    strategy: batchStrategySchema.exactOptional(),
    /** All calls in one transaction, which is committed when all of them succeed and given up otherwise. */
    atomic: z.boolean().exactOptional(),
    calls: z
      .array(toolRequestSchema.omit({ type: true, session_id: true, timestamp: true }))
      .min(1)
      .max(MAX_BATCH_CALLS)
      .readonly(),
  })
  .meta({ id: 'BatchRequest' });

export type BatchRequest = Readonly<z.infer<typeof batchRequestSchema>>;
