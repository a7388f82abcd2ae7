/** Parts that many envelopes share: ids, timestamps, errors, the strategy of a batch. */
import { z } from 'zod';
import { ERROR_CODES } from '../primitives/errors.ts';
import { fitsUtf8, MAX_ID_BYTES, PRINTABLE } from '../primitives/safe-text.ts';
import { jsonObjectSchema } from './json.ts';

/** The schema of one element of `errors[]` or `warnings[]`; its type is in errors.ts. */
export const errorEntrySchema = z
  .strictObject({
    code: z.enum(ERROR_CODES),
    message: z.string(),
    path: z.string().exactOptional(),
    details: jsonObjectSchema.exactOptional(),
  })
  .readonly();

/**
 * Which calls of a batch may overlap, and in which order their answers are released.
 *
 * More calls than this are sent as several batches.
 */
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

export const idSchema = z
  .string()
  .min(1, 'must not be empty')
  .max(MAX_ID_BYTES, `must be at most ${MAX_ID_BYTES} bytes long`)
  .regex(PRINTABLE, 'must not hold control characters or lone surrogates')
  .refine((value) => value.length > MAX_ID_BYTES || fitsUtf8(value, MAX_ID_BYTES), {
    error: `must be at most ${MAX_ID_BYTES} bytes long`,
  });

/** Whole Unix seconds. Not milliseconds: the wire keeps seconds, the runtime converts at the edge. */
export const timestampSchema = z.int().nonnegative().meta({ description: 'Unix time in whole seconds' });
