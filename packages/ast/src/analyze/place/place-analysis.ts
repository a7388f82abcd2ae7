/**
 * The last step of every adapter: places in the analyzer's units become lines and UTF-16 columns.
 *
 * Files are read one after the other, each once and only where its text is needed. Without the text a finding keeps the
 * analyzer's column and a note says so; a fix is dropped, because an edit at a guessed place is worse than none.
 */
import { isToolError } from '@tool-runtime/protocol';
import type { ByteSpan } from '../../contracts/facts.ts';
import type {
  Analysis,
  AnalyzerEdit,
  AnalyzerFinding,
  AnalyzerNote,
  Excerpt,
  Point,
  RawAnalysis,
  RawEdit,
  RawFinding,
  RawPlace,
} from '../analyzer-adapter.ts';
import { SourceText } from './source-text.ts';

/** The file's bytes, undefined or a ToolError when they cannot be had. */
export type ReadSource = (file: string) => Uint8Array | undefined | Promise<Uint8Array | undefined>;

export interface PlacingOptions {
  readonly readSource?: ReadSource;
  /** Looked at before each file; its reason is thrown. */
  readonly signal?: AbortSignal;
}

export async function placeAnalysis(raw: RawAnalysis, options: PlacingOptions = {}): Promise<Analysis> {
  const places = new Places();
  for (const [file, wanted] of wantedByFile(raw.findings)) {
    options.signal?.throwIfAborted();
    const source = await loadSource(file, options.readSource);
    for (const place of wanted) places.resolve(place, source);
  }
  const findings = raw.findings.map((finding) => toFinding(finding, places));
  return { findings: findings.sort(compareFindings), notes: [...raw.notes, ...places.notes()] };
}

class Places {
  readonly #resolved = new Map<RawPlace, ResolvedPlace>();
  readonly #excerpts = new WeakMap<Excerpt, SourceText>();
  #uncertain = 0;
  #lostFixes = 0;

  resolve(place: RawPlace, source: SourceText | undefined): ResolvedPlace {
    const resolved = resolvePlace(place, { excerpt: this.#excerpt(place.excerpt), source });
    this.#resolved.set(place, resolved);
    return resolved;
  }

  ofFinding(place: RawPlace): ResolvedPlace {
    const resolved = this.#of(place);
    const namesPlace = (place.start ?? place.bytes ?? place.offsets) !== undefined;
    if (namesPlace && !resolved.isCertain) this.#uncertain += 1;
    return resolved;
  }

  ofEdits(edits: readonly RawEdit[]): readonly AnalyzerEdit[] | undefined {
    const placed: AnalyzerEdit[] = [];
    for (const { file, place, newText } of edits) {
      const { start, end, isCertain } = this.#of(place);
      if (end === undefined || !isCertain) {
        this.#lostFixes += 1;
        return undefined;
      }
      placed.push({ file, startLine: start.line, startCol: start.col, endLine: end.line, endCol: end.col, newText });
    }
    return placed;
  }

  notes(): AnalyzerNote[] {
    const columns = `Columns are the analyzer's own, its source could not be read: ${this.#uncertain}`;
    const fixes = `Fixes were left out, their place is not certain: ${this.#lostFixes}`;
    return [
      ...(this.#uncertain === 0 ? [] : [{ kind: 'columns' as const, count: this.#uncertain, message: columns }]),
      ...(this.#lostFixes === 0 ? [] : [{ kind: 'fix' as const, count: this.#lostFixes, message: fixes }]),
    ];
  }

  #of(place: RawPlace): ResolvedPlace {
    return this.#resolved.get(place) ?? this.resolve(place, undefined);
  }

  #excerpt(excerpt: Excerpt | undefined): SourceText | undefined {
    if (excerpt === undefined) return undefined;
    const known = this.#excerpts.get(excerpt) ?? new SourceText(excerpt.text, excerpt.line);
    this.#excerpts.set(excerpt, known);
    return known;
  }
}

function wantedByFile(findings: readonly RawFinding[]): Map<string, RawPlace[]> {
  const wanted = new Map<string, RawPlace[]>();
  const want = (file: string, place: RawPlace, purpose: 'finding' | 'edit'): void => {
    if (!needsSource(place, purpose)) return;
    const places = wanted.get(file);
    if (places === undefined) wanted.set(file, [place]);
    else places.push(place);
  };
  for (const { file, place, edits = [] } of findings) {
    want(file, place, 'finding');
    for (const edit of edits) want(edit.file, edit.place, 'edit');
  }
  return wanted;
}

async function loadSource(file: string, readSource: ReadSource | undefined): Promise<SourceText | undefined> {
  let bytes: Uint8Array | undefined;
  try {
    bytes = await readSource?.(file);
  } catch (thrown) {
    // May stop here: a file that is gone or protected by now costs exact columns, not the findings.
    if (!isToolError(thrown)) throw thrown;
  }
  const text = bytes === undefined ? undefined : decoded(bytes);
  return text === undefined ? undefined : new SourceText(text);
}

/** Undefined for what is no UTF-8: offsets into it would be wrong. */
function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function toFinding({ place, edits, ...rest }: RawFinding, places: Places): AnalyzerFinding {
  const { start, end, span } = places.ofFinding(place);
  const placed = edits === undefined ? undefined : places.ofEdits(edits);
  return {
    ...rest,
    line: start.line,
    col: start.col,
    ...(end === undefined ? {} : { endLine: end.line, endCol: end.col }),
    ...(span === undefined ? {} : { span }),
    ...(placed === undefined ? {} : { fix: { edits: placed } }),
  };
}

function compareFindings(one: AnalyzerFinding, other: AnalyzerFinding): number {
  return (
    compareText(one.file, other.file) ||
    one.line - other.line ||
    one.col - other.col ||
    compareText(one.rule, other.rule)
  );
}

function compareText(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

interface ResolvedPlace {
  readonly start: Point;
  readonly end?: Point;
  readonly span?: ByteSpan;
  /** The analyzer named a place, and its columns are certain. */
  readonly isCertain: boolean;
}

/** What of the file is at hand: lines the analyzer printed along, and the whole of it when it was read. */
interface PlaceTexts {
  readonly excerpt: SourceText | undefined;
  readonly source: SourceText | undefined;
}

const FIRST: Point = { line: 1, col: 1 };

/**
 * One place in an analyzer's own units, as lines and UTF-16 columns.
 *
 * Whether the file must be read to say where the place is. An edit also needs its end, a finding may do without.
 */
function needsSource(place: RawPlace, purpose: 'finding' | 'edit'): boolean {
  const { unit, start, end, bytes, offsets, excerpt } = place;
  if (start === undefined) return bytes !== undefined || (offsets !== undefined && excerpt === undefined);
  if (excerpt !== undefined) return false;
  return unit !== 'utf16' || (purpose === 'edit' && end?.col === Number.POSITIVE_INFINITY);
}

function resolvePlace(place: RawPlace, texts: PlaceTexts): ResolvedPlace {
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
