/**
 * A long text in windows that overlap on both sides.
 *
 * A window owns the middle part: what begins there is its to report. What begins in the margins is seen only so that
 * neighbours judge a place at the border by the same text.
 */
import type { TextSource } from './text-source.ts';

export interface WindowSize {
  readonly units: number;
  /** Larger than any secret with its name. */
  readonly margin: number;
}

export interface TextWindow {
  readonly text: string;
  /** The owned part of the text. */
  readonly from: number;
  readonly to: number;
  readonly isLast: boolean;
}

/** Small enough that other work gets its turn between two windows of even the most awkward text. */
export const WINDOW_SIZE: WindowSize = { units: 1024 * 1024, margin: 64 * 1024 };

export function* splitWindows(source: TextSource, { units, margin }: WindowSize): Generator<TextWindow> {
  const { length } = source;
  const cut = (at: number): number => (at >= length ? length : source.cut(Math.max(at, 0)));
  for (let start = 0; start < length; ) {
    const end = cut(start + units);
    const before = source.slice(cut(start - margin), start);
    const own = source.slice(start, end);
    const after = source.slice(end, cut(end + margin));
    const from = before.length;
    yield { text: before + own + after, from, to: from + own.length, isLast: end === length };
    start = end;
  }
}
