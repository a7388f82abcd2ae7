/**
 * Texts cut to the room an answer has. What is short stays whole; the long ones share what is left. A cut falls between
 * lines or items, and a note in its place says what was left out, why, and which call gets it.
 */
import type { ShownPart, TextPart } from '../contracts/tool-text.ts';

export const BYTES_PER_TOKEN = 4;

export interface FittedTexts {
  /** Joined by line feeds they fit into the room. */
  readonly texts: readonly string[];
  readonly isCut: boolean;
}

export interface Room {
  readonly bytes: number;
  /** What sets the limit, for the note: `25000 tokens (limits.max_answer_tokens)`. */
  readonly limit: string;
}

const MAX_PARTS = 40;
const MAX_NOTE_BYTES = 1200;
const LINE_FEED = 0x0a;

export function fitParts(given: readonly TextPart[], room: Room, bytes = room.bytes): FittedTexts {
  const parts = mergeSurplus(given);
  const sizes = parts.map((part) => sizeOf(part.text) + titleBytes(part));
  const all = Math.max(0, bytes - parts.length);
  if (sizes.reduce((sum, size) => sum + size, 0) <= all) {
    return { texts: parts.map((part) => titled(part, wholeText(part.text))), isCut: false };
  }
  const shares = shareOut(sizes, all);
  const texts = parts.map((part, at) => {
    const [size, share] = [sizes[at] ?? 0, shares[at] ?? 0];
    if (size <= share) return titled(part, wholeText(part.text));
    const title = titleBytes(part);
    if (share < title) return firstLines(part.title ?? '', share).text;
    return titled(part, cutPart(part, { size: size - title, share: share - title, limit: room.limit }));
  });
  return { texts, isCut: parts.some((_, at) => (sizes[at] ?? 0) > (shares[at] ?? 0)) };
}

/** Each line between parts takes room too, so their number is bounded. */
function mergeSurplus(parts: readonly TextPart[]): readonly TextPart[] {
  if (parts.length <= MAX_PARTS) return parts;
  const surplus = parts
    .slice(MAX_PARTS - 1)
    .flatMap(({ title, text }) => (title === undefined ? text : [title, text].flat()));
  return [...parts.slice(0, MAX_PARTS - 1), { type: 'text', text: surplus }];
}

function titleBytes({ title }: TextPart): number {
  return title === undefined ? 0 : Buffer.byteLength(title) + 1;
}

function titled({ title }: TextPart, text: string): string {
  if (title === undefined || text === '') return title ?? text;
  return `${title}\n${text}`;
}

function sizeOf(text: TextPart['text']): number {
  if (typeof text === 'string') return Buffer.byteLength(text);
  return text.reduce((sum, item) => sum + Buffer.byteLength(item) + 1, 0);
}

/** The smallest first: what one does not need is there for the next. */
export function shareOut(sizes: readonly number[], room: number): readonly number[] {
  const shares = sizes.map(() => 0);
  const order = sizes.map((_, at) => at).sort((left, right) => (sizes[left] ?? 0) - (sizes[right] ?? 0));
  let left = room;
  for (const [done, at] of order.entries()) {
    const share = Math.min(sizes[at] ?? 0, Math.floor(left / (order.length - done)));
    shares[at] = share;
    left -= share;
  }
  return shares;
}

function wholeText(text: TextPart['text']): string {
  const joined = typeof text === 'string' ? text : text.join('\n');
  return joined.endsWith('\n') ? joined.slice(0, -1) : joined;
}

/** `size`: bytes of its text. */
function cutPart(
  part: TextPart,
  { size, share, limit }: { readonly size: number; readonly share: number; readonly limit: string },
): string {
  const noteRoom = Math.min(MAX_NOTE_BYTES, Math.floor(share / 2));
  const room = Math.max(0, share - noteRoom - 2);
  const hasEnd = part.keep === 'ends' && typeof part.text === 'string';
  const start = beginning(part.text, hasEnd ? Math.floor(room / 3) : room, size);
  const end = hasEnd ? ending(part.text as string, room - Buffer.byteLength(start.text)) : undefined;
  const note = noteOf(part, { size, shown: start, end, limit, room: noteRoom });
  return [start.text, note, ...(end === undefined ? [] : [end.text])].filter((text) => text !== '').join('\n');
}

interface Piece extends ShownPart {
  readonly text: string;
}

function beginning(text: TextPart['text'], room: number, size: number): Piece {
  if (typeof text === 'string') return firstLines(text, room, size);
  let bytes = 0;
  let items = 0;
  for (const item of text) {
    const size = Buffer.byteLength(item) + 1;
    if (bytes + size > room) break;
    bytes += size;
    items += 1;
  }
  if (items > 0) return { text: text.slice(0, items).join('\n'), items, bytes };
  return { ...firstLines(text[0] ?? '', room), items: 0 };
}

/** Whole lines, or a part of the first one when not even that fits. `size`: bytes of the text, where they are known. */
function firstLines(text: string, room: number, size?: number): Piece {
  const head = text.slice(0, room);
  // Bytes are characters here: nothing has to be copied.
  if (size === text.length || Buffer.byteLength(head) === head.length) return firstAsciiLines(head);
  const bytes = Buffer.from(head);
  let end = Math.min(room, bytes.length);
  while (end > 0 && isInsideCharacter(bytes, end)) end -= 1;
  const line = end === 0 ? -1 : bytes.lastIndexOf(LINE_FEED, end - 1);
  if (line < 0) return { text: bytes.toString('utf8', 0, end), items: 0, bytes: end };
  const shown = bytes.toString('utf8', 0, line);
  return { text: shown, items: countLines(shown), bytes: line + 1 };
}

function firstAsciiLines(head: string): Piece {
  const line = head.lastIndexOf('\n');
  if (line < 0) return { text: head, items: 0, bytes: head.length };
  const shown = head.slice(0, line);
  return { text: shown, items: countLines(shown), bytes: line + 1 };
}

function ending(text: string, room: number): Piece {
  const bytes = Buffer.from(room === 0 ? '' : text.slice(-room));
  let start = Math.max(0, bytes.length - room);
  while (start < bytes.length && isInsideCharacter(bytes, start)) start += 1;
  const line = bytes.indexOf(LINE_FEED, start);
  const isWholeLine = line >= 0 && line + 1 < bytes.length;
  const shown = bytes.toString('utf8', isWholeLine ? line + 1 : start);
  const closed = shown.endsWith('\n') ? shown.slice(0, -1) : shown;
  return { text: closed, items: isWholeLine ? countLines(closed) : 0, bytes: Buffer.byteLength(closed) };
}

/** Bytes of the form 10xxxxxx continue a character that began earlier. */
function isInsideCharacter(bytes: Buffer, at: number): boolean {
  return ((bytes[at] ?? 0) & 0xc0) === 0x80;
}

export function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

interface NoteFacts {
  readonly size: number;
  readonly shown: Piece;
  readonly end: Piece | undefined;
  readonly limit: string;
  readonly room: number;
}

function noteOf(part: TextPart, { size, shown, end, limit, room }: NoteFacts): string {
  const tokens = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN);
  const kept = tokens(shown.bytes + (end?.bytes ?? 0));
  const price = `about ${kept} of ${tokens(size)} tokens, limit ${limit}`;
  const rest = part.rest?.({ items: shown.items, bytes: shown.bytes });
  const what = `cut: ${amountOf(part, { size, shown, end })}, ${price}.`;
  const full = `[${what} Rest: ${rest ?? 'ask for less at once'}]`;
  if (Buffer.byteLength(full) <= room) return full;
  const short = `[${what}]`;
  return Buffer.byteLength(short) <= room ? short : firstLines('[cut]', room).text;
}

function amountOf(
  { text, lines: counted }: TextPart,
  { size, shown, end }: Pick<NoteFacts, 'size' | 'shown' | 'end'>,
): string {
  if (typeof text !== 'string') return `${shown.items} of ${text.length} entries shown`;
  const isByLine = shown.items > 0 && (end === undefined || end.items > 0);
  if (!isByLine) return `${shown.bytes + (end?.bytes ?? 0)} of ${size} bytes shown`;
  const lines = counted ?? countLines(wholeText(text));
  if (end === undefined) return `lines 1 to ${shown.items} of ${lines} shown`;
  return `lines ${shown.items + 1} to ${lines - end.items} of ${lines} left out here`;
}
