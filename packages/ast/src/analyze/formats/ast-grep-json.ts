/**
 * ast-grep's JSON, as one list (`--json`, `--json=compact`) or one match per line (`--json=stream`).
 *
 * Lines and columns start at 0 and columns count code points; the matched lines come along, so no file has to be read.
 * `ast-grep run` prints the same without a rule.
 */
import type { ByteSpan } from '../../contracts/facts.ts';
import type { AnalyzerAdapter, Excerpt, FindingLevel, Point, RawPlace } from '../analyzer-adapter.ts';
import { FindingCollector } from '../finding-collector.ts';
import { at, filledText, notOfFormat, readJson, readJsonLines, textOf, webAddress, wholeNumber } from '../read-json.ts';

const FORMAT = 'ast-grep-json';

const LEVELS: ReadonlyMap<unknown, FindingLevel> = new Map([
  ['error', 'error'],
  ['warning', 'warning'],
]);

export const astGrepJson = {
  format: FORMAT,
  read(text, context) {
    const collector = new FindingCollector(context, 'ast-grep');
    for (const match of readMatches(text)) addMatch(match, collector);
    return collector.finish();
  },
} as const satisfies AnalyzerAdapter;

function readMatches(text: string): readonly unknown[] {
  if (!text.trimStart().startsWith('[')) return readJsonLines(text, FORMAT);
  const list = readJson(text, FORMAT);
  if (!Array.isArray(list)) throw notOfFormat(FORMAT, 'it is not a list');
  return list;
}

function addMatch(match: unknown, collector: FindingCollector): void {
  const place = placeOf(match);
  if (place === undefined) {
    collector.drop('unreadable');
    return;
  }
  const path = filledText(at(match, 'file'));
  const newText = textOf(at(match, 'replacement'));
  collector.add({
    rule: filledText(at(match, 'ruleId')) ?? 'pattern',
    level: LEVELS.get(at(match, 'severity')) ?? 'note',
    message: messageOf(match),
    path,
    place,
    ...(newText === undefined ? {} : { edits: [{ path, place: replacedPlace(match, place), newText }] }),
    docs: webAddress(at(match, 'url')) ?? webAddress(at(match, 'metadata', 'url')),
  });
}

function messageOf(match: unknown): string {
  return [at(match, 'message'), at(match, 'note')].flatMap((part) => filledText(part) ?? []).join('\n');
}

function placeOf(match: unknown): RawPlace | undefined {
  const [start, end] = [pointOf(at(match, 'range', 'start')), pointOf(at(match, 'range', 'end'))];
  if (start === undefined || end === undefined) return undefined;
  const bytes = spanOf(at(match, 'range', 'byteOffset'));
  const excerpt = excerptOf(match, start.line, end.line);
  return {
    unit: 'code_point',
    start,
    end,
    ...(bytes === undefined ? {} : { bytes }),
    ...(excerpt === undefined ? {} : { excerpt }),
  };
}

function pointOf(value: unknown): Point | undefined {
  const [line, column] = [wholeNumber(at(value, 'line')), wholeNumber(at(value, 'column'))];
  return line === undefined || column === undefined ? undefined : { line: line + 1, col: column + 1 };
}

function spanOf(value: unknown): ByteSpan | undefined {
  const [start, end] = [wholeNumber(at(value, 'start')), wholeNumber(at(value, 'end'))];
  return start === undefined || end === undefined || end < start ? undefined : { start, end };
}

/** With context lines around the match the text begins elsewhere and is of no use. */
function excerptOf(match: unknown, line: number, endLine: number): Excerpt | undefined {
  const text = textOf(at(match, 'lines'));
  return text !== undefined && text.split('\n').length === endLine - line + 1 ? { line, text } : undefined;
}

/** A rule may replace more or less than it matches; then only the bytes say what. */
function replacedPlace(match: unknown, matched: RawPlace): RawPlace {
  const bytes = spanOf(at(match, 'replacementOffsets'));
  if (bytes === undefined) return matched;
  const isSame = bytes.start === matched.bytes?.start && bytes.end === matched.bytes.end;
  return isSame ? matched : { unit: 'byte', bytes };
}
