/** Pyright's JSON (`--outputjson`). Positions are those of the language server protocol: from 0, in UTF-16 units. */
import type { AnalyzerAdapter, FindingLevel, Point, RawPlace } from '../analyzer-adapter.ts';
import { FindingCollector } from '../finding-collector.ts';
import { at, filledText, notOfFormat, readJson, textOf, wholeNumber } from '../read-json.ts';

const FORMAT = 'pyright-json';

const LEVELS: ReadonlyMap<unknown, FindingLevel> = new Map([
  ['error', 'error'],
  ['warning', 'warning'],
]);

export const pyrightJson = {
  format: FORMAT,
  read(text, context) {
    const diagnostics = at(readJson(text, FORMAT), 'generalDiagnostics');
    if (!Array.isArray(diagnostics)) throw notOfFormat(FORMAT, 'it has no list of diagnostics');
    const collector = new FindingCollector(context, 'pyright');
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
  collector.add({
    // Syntax errors and a few checks that cannot be switched off belong to no rule.
    rule: filledText(at(diagnostic, 'rule')) ?? 'pyright',
    level: LEVELS.get(at(diagnostic, 'severity')) ?? 'note',
    message,
    path: filledText(at(diagnostic, 'file')) ?? filledText(at(diagnostic, 'uri')),
    place: placeOf(at(diagnostic, 'range')),
  });
}

function placeOf(range: unknown): RawPlace {
  const [start, end] = [pointOf(at(range, 'start')), pointOf(at(range, 'end'))];
  if (start === undefined) return { unit: 'utf16' };
  return { unit: 'utf16', start, ...(end === undefined ? {} : { end }) };
}

function pointOf(value: unknown): Point | undefined {
  const [line, character] = [wholeNumber(at(value, 'line')), wholeNumber(at(value, 'character'))];
  return line === undefined || character === undefined ? undefined : { line: line + 1, col: character + 1 };
}
