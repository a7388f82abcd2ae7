/**
 * Semgrep's own JSON (`semgrep scan --json`), which Opengrep prints too.
 *
 * Written after the public description of the format; Semgrep itself is not exercised by our tests, because it cannot be
 * installed where they run. Columns count bytes, and `lines` may hold a request to log in instead of source.
 */
import type { AnalyzerAdapter, Excerpt, FindingLevel, RawPlace } from '../analyzer-adapter.ts';
import { FindingCollector } from '../finding-collector.ts';
import {
  at,
  filledText,
  isObject,
  listOf,
  notOfFormat,
  readJson,
  textOf,
  webAddress,
  wholeNumber,
} from '../read-json.ts';

const FORMAT = 'semgrep-json';

const LEVELS: ReadonlyMap<unknown, FindingLevel> = new Map([
  ['CRITICAL', 'error'],
  ['HIGH', 'error'],
  ['ERROR', 'error'],
  ['MEDIUM', 'warning'],
  ['WARNING', 'warning'],
]);

export const semgrepJson = {
  format: FORMAT,
  read(text, context) {
    const root = readJson(text, FORMAT);
    const results = at(root, 'results');
    if (!Array.isArray(results)) throw notOfFormat(FORMAT, 'it has no list of results');
    const collector = new FindingCollector(context, 'semgrep');
    for (const result of results) addResult(result, collector);
    for (const error of listOf(at(root, 'errors'))) collector.complain(describeError(error));
    return collector.finish();
  },
} as const satisfies AnalyzerAdapter;

function addResult(result: unknown, collector: FindingCollector): void {
  const rule = filledText(at(result, 'check_id'));
  const place = placeOf(result);
  if (rule === undefined || place === undefined) {
    collector.drop('unreadable');
    return;
  }
  const extra = at(result, 'extra');
  if (at(extra, 'is_ignored') === true) {
    collector.drop('suppressed');
    return;
  }
  const path = filledText(at(result, 'path'));
  const newText = textOf(at(extra, 'fix'));
  collector.add({
    rule,
    level: LEVELS.get(at(extra, 'severity')) ?? 'note',
    message: textOf(at(extra, 'message')) ?? '',
    path,
    place,
    ...(newText === undefined ? {} : { edits: [{ path, place, newText }] }),
    docs: docsOf(at(extra, 'metadata')),
  });
}

function placeOf(result: unknown): RawPlace | undefined {
  const [startLine, startCol] = [numberAt(result, 'start', 'line'), numberAt(result, 'start', 'col')];
  const [endLine, endCol] = [numberAt(result, 'end', 'line'), numberAt(result, 'end', 'col')];
  if (startLine === undefined || startCol === undefined) return undefined;
  const bytes = bytesOf(result);
  const excerpt = endLine === undefined ? undefined : excerptOf(result, startLine, endLine);
  return {
    unit: 'byte',
    start: { line: startLine, col: startCol },
    ...(endLine === undefined || endCol === undefined ? {} : { end: { line: endLine, col: endCol } }),
    ...(bytes === undefined ? {} : { bytes }),
    ...(excerpt === undefined ? {} : { excerpt }),
  };
}

const numberAt = (result: unknown, side: string, name: string): number | undefined =>
  wholeNumber(at(result, side, name), 1);

/** Older versions leave the offsets out or put -1 or 0 in their place. */
function bytesOf(result: unknown): RawPlace['bytes'] {
  const [start, end] = [wholeNumber(at(result, 'start', 'offset')), wholeNumber(at(result, 'end', 'offset'))];
  return start === undefined || end === undefined || end <= start ? undefined : { start, end };
}

function excerptOf(result: unknown, line: number, endLine: number): Excerpt | undefined {
  const text = textOf(at(result, 'extra', 'lines'));
  if (text === undefined || text === 'requires login') return undefined;
  return text.replace(/\n$/, '').split('\n').length === endLine - line + 1 ? { line, text } : undefined;
}

function docsOf(metadata: unknown): string | undefined {
  const candidates = [at(metadata, 'shortlink'), at(metadata, 'source'), at(metadata, 'references', 0)];
  return candidates.map(webAddress).find((address) => address !== undefined);
}

function describeError(error: unknown): string {
  const type = at(error, 'type');
  const kind = filledText(type) ?? filledText(at(type, 0)) ?? 'error';
  const message = filledText(at(error, 'message')) ?? filledText(at(error, 'long_msg')) ?? 'no message';
  const path = filledText(at(error, 'path'));
  const level = isObject(error) ? (filledText(error['level']) ?? 'error') : 'error';
  return `semgrep ${level}, ${kind}${path === undefined ? '' : ` in ${path}`}: ${message}`;
}
