/**
 * The last step of every adapter: places in the analyzer's units become lines and UTF-16 columns.
 *
 * Files are read one after the other, each once and only where its text is needed. Without the text a finding keeps the
 * analyzer's column and a note says so; a fix is dropped, because an edit at a guessed place is worse than none.
 */
import { isToolError } from '@tool-runtime/protocol';
import type { Excerpt, RawAnalysis, RawEdit, RawFinding, RawPlace } from '../analyzer-adapter.ts';
import type { Analysis, AnalyzerEdit, AnalyzerFinding, AnalyzerNote } from '../analyzer-finding.ts';
import { needsSource, type ResolvedPlace, resolvePlace } from './resolve-place.ts';
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
