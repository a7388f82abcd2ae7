/** Which calls of a batch may overlap, and in which order their answers are released. */
import { z } from 'zod';

/** More calls than this are sent as several batches. */
export const MAX_BATCH_CALLS = 64;

const maxInFlightSchema = z.int().min(1).max(MAX_BATCH_CALLS);

export const batchStrategySchema = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('sequential') }),
    z.strictObject({ type: z.literal('bounded_concurrent'), max_in_flight: maxInFlightSchema }),
    z.strictObject({ type: z.literal('ordered_batch'), max_in_flight: maxInFlightSchema }),
  ])
  .meta({ id: 'BatchStrategy' });

export type BatchStrategy = Readonly<z.infer<typeof batchStrategySchema>>;
