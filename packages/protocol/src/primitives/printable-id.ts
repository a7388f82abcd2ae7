/**
 * The one rule for every id, key and name: 1 to 512 UTF-8 bytes, printable.
 *
 * Refused at the edge because ids end up in log lines, file names and journal columns, where a control character or half
 * a surrogate pair does damage far from its source.
 */
import { fitsUtf8 } from './utf8-length.ts';

export const MAX_ID_BYTES = 512;

export const PRINTABLE = /^[^\u0000-\u001f\u007f-\u009f\ud800-\udfff]*$/u;

export function isPrintableId(value: string): boolean {
  return value !== '' && value.length <= MAX_ID_BYTES && fitsUtf8(value, MAX_ID_BYTES) && PRINTABLE.test(value);
}
