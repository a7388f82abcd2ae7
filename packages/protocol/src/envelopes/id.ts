/**
 * The one rule for every id, key and name on the wire: 1 to 512 UTF-8 bytes, printable.
 *
 * Refused here because ids end up in log lines, file names and journal columns, where a control
 * character or half a surrogate pair does damage far from its source.
 */
import { z } from 'zod';
import { fitsUtf8 } from '../utf8-length.ts';

export const MAX_ID_BYTES = 512;

const PRINTABLE = /^[^\u0000-\u001f\u007f-\u009f\ud800-\udfff]*$/u;

export const idSchema = z
  .string()
  .min(1, 'must not be empty')
  .max(MAX_ID_BYTES, `must be at most ${MAX_ID_BYTES} bytes long`)
  .regex(PRINTABLE, 'must not hold control characters or lone surrogates')
  .refine((value) => value.length > MAX_ID_BYTES || fitsUtf8(value, MAX_ID_BYTES), {
    error: `must be at most ${MAX_ID_BYTES} bytes long`,
  });
