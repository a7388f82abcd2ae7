/** A patch as text of limited length: cut after a whole line, with bytes that are not UTF-8 replaced and reported. */
import { isUtf8 } from 'node:buffer';

const NEWLINE = 0x0a;

export interface PatchText {
  readonly patch: string;
  readonly truncated: boolean;
  /** Present when bytes that are no UTF-8 were replaced. */
  readonly lossy?: true;
}

export function patchText(bytes: Buffer, { maxBytes, isCut }: { maxBytes: number; isCut: boolean }): PatchText {
  const truncated = isCut || bytes.length > maxBytes;
  const within = bytes.subarray(0, maxBytes);
  const kept = truncated ? within.subarray(0, within.lastIndexOf(NEWLINE) + 1) : within;
  return { patch: kept.toString('utf8'), truncated, ...(isUtf8(kept) ? {} : { lossy: true as const }) };
}
