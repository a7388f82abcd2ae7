/** A region as a place. It may be given by lines and columns, by characters, by bytes, or by several of these at once. */
import type { Point, RawPlace } from '../../analyzer-adapter.ts';
import { at, wholeNumber } from '../../loose-json.ts';
import type { Dialect } from './dialect.ts';

export function regionPlace(region: unknown, { unit }: Dialect): RawPlace {
  const start = startOf(region);
  const [bytes, offsets] = [rangeOf(region, 'byteOffset', 'byteLength'), rangeOf(region, 'charOffset', 'charLength')];
  return {
    unit,
    ...(start === undefined ? {} : { start, end: endOf(region, start) }),
    ...(bytes === undefined ? {} : { bytes }),
    ...(offsets === undefined ? {} : { offsets }),
  };
}

function startOf(region: unknown): Point | undefined {
  const line = wholeNumber(at(region, 'startLine'), 1);
  return line === undefined ? undefined : { line, col: wholeNumber(at(region, 'startColumn'), 1) ?? 1 };
}

/** Without an end column a region reaches to the end of its last line. */
function endOf(region: unknown, start: Point): Point {
  return {
    line: wholeNumber(at(region, 'endLine'), 1) ?? start.line,
    col: wholeNumber(at(region, 'endColumn'), 1) ?? Number.POSITIVE_INFINITY,
  };
}

function rangeOf(region: unknown, offsetName: string, lengthName: string): RawPlace['bytes'] {
  const offset = wholeNumber(at(region, offsetName));
  if (offset === undefined) return undefined;
  return { start: offset, end: offset + (wholeNumber(at(region, lengthName)) ?? 0) };
}
