/** Fields that many envelopes share: ids and timestamps. */
import { z } from 'zod';
import { fitsUtf8, MAX_ID_BYTES, PRINTABLE } from '../primitives/text-limits.ts';

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
