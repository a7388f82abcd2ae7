/**
 * The size of texts in UTF-8, and the one rule for every id, key and name: 1 to 512 UTF-8 bytes, printable.
 *
 * Other ids are refused at the edge because ids end up in log lines, file names and journal columns, where a control character or half
 * a surrogate pair does damage far from its source.
 */

export const MAX_ID_BYTES = 512;

export const PRINTABLE = /^[^\u0000-\u001f\u007f-\u009f\ud800-\udfff]*$/u;

export function isPrintableId(value: string): boolean {
  return value !== '' && value.length <= MAX_ID_BYTES && fitsUtf8(value, MAX_ID_BYTES) && PRINTABLE.test(value);
}

/** UTF-8 size without encoding. A lone surrogate counts as the three bytes of its replacement character. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x80) continue;
    if (code < 0x800) bytes += 1;
    else if (isPairAt(text, index, code)) {
      bytes += 2;
      index++;
    } else bytes += 2;
  }
  return bytes;
}

/** Settled by the length alone for most texts: a UTF-16 unit takes one to three bytes. */
export function fitsUtf8(text: string, maxBytes: number): boolean {
  return text.length * 3 <= maxBytes || (text.length <= maxBytes && utf8Length(text) <= maxBytes);
}

function isPairAt(text: string, index: number, high: number): boolean {
  if (high < 0xd800 || high > 0xdbff) return false;
  const low = text.charCodeAt(index + 1);
  return low >= 0xdc00 && low <= 0xdfff;
}
