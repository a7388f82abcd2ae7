/** oxlint's JSON (`--format=json`). Columns count bytes; where a finding ends is said only as a length in bytes. */
import type { AnalyzerAdapter, FindingLevel, RawPlace } from '../analyzer-adapter.ts';
import { FindingCollector } from '../finding-collector.ts';
import { at, filledText, notOfFormat, readJson, textOf, webAddress, wholeNumber } from '../read-json.ts';

const FORMAT = 'oxlint-json';

const LEVELS: ReadonlyMap<unknown, FindingLevel> = new Map([
  ['error', 'error'],
  ['warning', 'warning'],
]);

export const oxlintJson = {
  format: FORMAT,
  read(text, context) {
    const diagnostics = at(readJson(text, FORMAT), 'diagnostics');
    if (!Array.isArray(diagnostics)) throw notOfFormat(FORMAT, 'it has no list of diagnostics');
    const collector = new FindingCollector(context, 'oxlint');
    for (const diagnostic of diagnostics) addDiagnostic(diagnostic, collector);
    return collector.finish();
  },
} as const satisfies AnalyzerAdapter;

function addDiagnostic(diagnostic: unknown, collector: FindingCollector): void {
  const message = textOf(at(diagnostic, 'message'));
  if (message === undefined) {
    collector.drop('unreadable');
    return;
  }
  const help = filledText(at(diagnostic, 'help'));
  collector.add({
    // Syntax errors carry no code.
    rule: filledText(at(diagnostic, 'code')) ?? 'syntax',
    level: LEVELS.get(at(diagnostic, 'severity')) ?? 'note',
    message: help === undefined ? message : `${message}\n${help}`,
    path: filledText(at(diagnostic, 'filename')),
    place: placeOf(at(diagnostic, 'labels', 0, 'span')),
    docs: webAddress(at(diagnostic, 'url')),
  });
}

function placeOf(span: unknown): RawPlace {
  const [line, col] = [wholeNumber(at(span, 'line'), 1), wholeNumber(at(span, 'column'), 1)];
  const [offset, length] = [wholeNumber(at(span, 'offset')), wholeNumber(at(span, 'length'))];
  return {
    unit: 'byte',
    ...(line === undefined || col === undefined ? {} : { start: { line, col } }),
    ...(offset === undefined || length === undefined ? {} : { bytes: { start: offset, end: offset + length } }),
  };
}
