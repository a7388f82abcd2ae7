/**
 * What makes one text another one: the part that is replaced, and what replaces it.
 *
 * The new text is never put together to be looked at: of a long text that costs more than everything else about a small
 * change.
 */
import { encodeText, type TextEncoding } from './encoding.ts';

/** `text` replaces `before` from `start` up to, not including, `end`. */
export interface TextChange {
  readonly before: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The new text. */
export function changedText({ before, start, end, text }: TextChange): string {
  return before.slice(0, start) + text + before.slice(end);
}

/** Both as one. `next` changes what the first one made. */
export function joinChanges(first: TextChange, next: Omit<TextChange, 'before'>): TextChange {
  const { before, start, end, text } = first;
  const grown = text.length - (end - start);
  const from = Math.min(start, next.start);
  // Where the parts of both end, in the text between them.
  const to = Math.max(start + text.length, next.end);
  const head = before.slice(from, start) + text + before.slice(end, to - grown);
  const joined = head.slice(0, next.start - from) + next.text + head.slice(next.end - from);
  return { before, start: from, end: to - grown, text: joined };
}

const PIECE_SIZES = [65_536, 4096, 256];

/** The smallest change between two texts; what they have in common at the beginning is left out first. */
export function changeBetween(before: string, after: string): TextChange {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  // Whole pieces are compared by the engine, many characters at once.
  for (const size of PIECE_SIZES) {
    while (start + size <= shorter && before.slice(start, start + size) === after.slice(start, start + size)) {
      start += size;
    }
  }
  while (start < shorter && before.charCodeAt(start) === after.charCodeAt(start)) start++;
  let same = 0;
  const endsAlike = (size: number): boolean =>
    before.slice(before.length - same - size, before.length - same) ===
    after.slice(after.length - same - size, after.length - same);
  for (const size of PIECE_SIZES) while (same + size <= shorter - start && endsAlike(size)) same += size;
  const [last, lastNow] = [before.length - 1, after.length - 1];
  while (same < shorter - start && before.charCodeAt(last - same) === after.charCodeAt(lastNow - same)) same++;
  return { before, start, end: before.length - same, text: after.slice(start, after.length - same) };
}

/** The same as `changeBetween` for a change that is known, without looking at the rest of the texts. */
export function smallestChange({ before, start, end, text }: TextChange): TextChange {
  const grown = text.length - (end - start);
  const length = before.length + grown;
  const codeNow = (at: number): number =>
    at < start
      ? before.charCodeAt(at)
      : at < start + text.length
        ? text.charCodeAt(at - start)
        : before.charCodeAt(at - grown);
  const shorter = Math.min(before.length, length);
  let from = start;
  while (from < shorter && before.charCodeAt(from) === codeNow(from)) from++;
  let same = Math.min(before.length - end, shorter - from);
  while (same < shorter - from && before.charCodeAt(before.length - 1 - same) === codeNow(length - 1 - same)) same++;
  /** A part of the new text. */
  const now = (first: number, last: number): string =>
    before.slice(first, Math.min(last, start)) +
    text.slice(Math.max(0, first - start), Math.max(0, last - start)) +
    before.slice(Math.max(end, first - grown), Math.max(end, last - grown));
  return { before, start: from, end: before.length - same, text: now(from, length - same) };
}

/**
 * The new text in an encoding, made from the bytes that hold the old one in it. Undefined when the encoding has no form
 * for a character.
 */
export function encodeChange(
  bytes: Uint8Array,
  { before, start, end, text }: TextChange,
  encoding: TextEncoding,
): Buffer | undefined {
  const now = encodeText(text, encoding);
  if (now === undefined) return undefined;
  const lengthOf = (from: number, to: number): number => {
    if (encoding === 'latin1' || bytes.length === before.length) return to - from;
    return encoding === 'utf-8' ? Buffer.byteLength(before.slice(from, to)) : 2 * (to - from);
  };
  const first = lengthOf(0, start);
  return Buffer.concat([bytes.subarray(0, first), now, bytes.subarray(first + lengthOf(start, end))]);
}
