/** UTF-8 size of a text without encoding it. A lone surrogate counts as the three bytes of its replacement character. */
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
