/** Where UTF-8 bytes can be cut without splitting a character. Bytes that are no UTF-8 count as characters of their own. */

const LONGEST_CHARACTER = 4;

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Where the last character that is all there ends. */
export function wholeCharactersEnd(bytes: Uint8Array): number {
  let start = bytes.length - 1;
  while (start > bytes.length - LONGEST_CHARACTER && isContinuation(bytes[start])) start--;
  const lead = bytes[start] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return length > 1 && start + length > bytes.length ? Math.max(start, 0) : bytes.length;
}

/** Where the first character that is all there begins. */
export function firstCharacterStart(bytes: Uint8Array): number {
  let start = 0;
  while (start < LONGEST_CHARACTER - 1 && isContinuation(bytes[start])) start++;
  return start;
}
