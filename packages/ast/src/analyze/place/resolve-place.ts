/** One place in an analyzer's own units, as lines and UTF-16 columns. */
import type { ByteSpan } from '../../contracts/facts.ts';
import type { Point, RawPlace } from '../analyzer-adapter.ts';
import type { SourceText } from './source-text.ts';

export interface ResolvedPlace {
  readonly start: Point;
  readonly end?: Point;
  readonly span?: ByteSpan;
  /** The analyzer named a place, and its columns are certain. */
  readonly isCertain: boolean;
}

/** What of the file is at hand: lines the analyzer printed along, and the whole of it when it was read. */
export interface PlaceTexts {
  readonly excerpt: SourceText | undefined;
  readonly source: SourceText | undefined;
}

const FIRST: Point = { line: 1, col: 1 };

/** Whether the file must be read to say where the place is. An edit also needs its end, a finding may do without. */
export function needsSource(place: RawPlace, purpose: 'finding' | 'edit'): boolean {
  const { unit, start, end, bytes, offsets, excerpt } = place;
  if (start === undefined) return bytes !== undefined || (offsets !== undefined && excerpt === undefined);
  if (excerpt !== undefined) return false;
  return unit !== 'utf16' || (purpose === 'edit' && end?.col === Number.POSITIVE_INFINITY);
}

export function resolvePlace(place: RawPlace, texts: PlaceTexts): ResolvedPlace {
  const span = place.bytes === undefined ? {} : { span: place.bytes };
  const start = pointOf(place, texts, 'start');
  if (start === undefined) return { start: FIRST, ...span, isCertain: false };
  const end = pointOf(place, texts, 'end');
  const isCertain = start.isCertain && (end === undefined || end.isCertain);
  if (end === undefined || isBefore(end.point, start.point)) return { start: start.point, ...span, isCertain };
  return { start: start.point, end: end.point, ...span, isCertain };
}

interface FoundPoint {
  readonly point: Point;
  readonly isCertain: boolean;
}

function pointOf(place: RawPlace, texts: PlaceTexts, side: 'start' | 'end'): FoundPoint | undefined {
  const given = place[side];
  if (given !== undefined) return converted(given, place, texts);
  const point = place.bytes === undefined ? undefined : texts.source?.pointAt(place.bytes[side], 'byte');
  return point === undefined ? byOffset(place, texts, side) : { point, isCertain: true };
}

function byOffset({ offsets, unit, skipsMark }: RawPlace, texts: PlaceTexts, side: 'start' | 'end') {
  const text = texts.excerpt ?? texts.source;
  if (offsets === undefined || text === undefined) return undefined;
  const mark = skipsMark === true && text.hasMark ? 1 : 0;
  return { point: text.pointAt(offsets[side] + mark, unit), isCertain: true };
}

function converted(given: Point, { unit, skipsMark }: RawPlace, texts: PlaceTexts): FoundPoint | undefined {
  const text = texts.excerpt ?? texts.source;
  const isEnd = given.col === Number.POSITIVE_INFINITY;
  if (unit === 'utf16' && !isEnd) {
    const mark = skipsMark === true && given.line === 1 && text?.hasMark === true ? 1 : 0;
    return { point: { line: given.line, col: given.col + mark }, isCertain: true };
  }
  const point = texts.excerpt?.point(given, unit) ?? texts.source?.point(given, unit);
  if (point !== undefined) return { point, isCertain: true };
  return isEnd ? undefined : { point: given, isCertain: false };
}

function isBefore(one: Point, other: Point): boolean {
  return one.line < other.line || (one.line === other.line && one.col < other.col);
}
