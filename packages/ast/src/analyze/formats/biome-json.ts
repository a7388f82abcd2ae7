/**
 * Biome's JSON (`--reporter=json`), which Biome calls experimental; its SARIF reporter is the safer choice.
 *
 * Columns count code points. Versions before 2.4 name the file as an object, give the place as bytes and the message as
 * pieces of markup.
 */
import type { AnalyzerAdapter, FindingLevel, Point, RawPlace } from '../analyzer-adapter.ts';
import { FindingCollector } from '../finding-collector.ts';
import { at, filledText, listOf, notOfFormat, readJson, textOf, wholeNumber } from '../read-json.ts';

const FORMAT = 'biome-json';

const LEVELS: ReadonlyMap<unknown, FindingLevel> = new Map([
  ['fatal', 'error'],
  ['error', 'error'],
  ['warning', 'warning'],
  ['warn', 'warning'],
]);

export const biomeJson = {
  format: FORMAT,
  read(text, context) {
    const diagnostics = at(readJson(text, FORMAT), 'diagnostics');
    if (!Array.isArray(diagnostics)) throw notOfFormat(FORMAT, 'it has no list of diagnostics');
    const collector = new FindingCollector(context, 'biome');
    for (const diagnostic of diagnostics) addDiagnostic(diagnostic, collector);
    return collector.finish();
  },
} as const satisfies AnalyzerAdapter;

function addDiagnostic(diagnostic: unknown, collector: FindingCollector): void {
  const category = filledText(at(diagnostic, 'category'));
  const message = messageOf(diagnostic);
  if (category === undefined && message === '') {
    collector.drop('unreadable');
    return;
  }
  const location = at(diagnostic, 'location');
  collector.add({
    rule: category ?? 'biome',
    level: LEVELS.get(at(diagnostic, 'severity')) ?? 'note',
    message,
    path: filledText(at(location, 'path')) ?? filledText(at(location, 'path', 'file')),
    place: placeOf(location),
  });
}

function messageOf(diagnostic: unknown): string {
  const message = at(diagnostic, 'message');
  const pieces = listOf(message).map((piece) => textOf(at(piece, 'content')) ?? '');
  return textOf(message) ?? textOf(at(diagnostic, 'description')) ?? pieces.join('');
}

function placeOf(location: unknown): RawPlace {
  const [start, end] = [pointOf(at(location, 'start')), pointOf(at(location, 'end'))];
  const [from, to] = [wholeNumber(at(location, 'span', 0)), wholeNumber(at(location, 'span', 1))];
  return {
    unit: 'code_point',
    ...(start === undefined ? {} : { start }),
    ...(start === undefined || end === undefined ? {} : { end }),
    ...(from === undefined || to === undefined || to < from ? {} : { bytes: { start: from, end: to } }),
  };
}

/** Line 0 means none. */
function pointOf(value: unknown): Point | undefined {
  const [line, col] = [wholeNumber(at(value, 'line'), 1), wholeNumber(at(value, 'column'), 1)];
  return line === undefined || col === undefined ? undefined : { line, col };
}
