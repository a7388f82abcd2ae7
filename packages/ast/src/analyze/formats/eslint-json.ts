/**
 * ESLint's JSON (`--format json`, or `json-with-metadata`, which adds where rules are described).
 *
 * Columns count UTF-16 units from 1. A fix is given by offsets into the text without its byte order mark; the text comes
 * along as `source` unless ESLint itself applied fixes.
 */
import type { AnalyzerAdapter, Excerpt, FindingLevel, Point, RawPlace } from '../analyzer-adapter.ts';
import { FindingCollector, type FoundEdit } from '../finding-collector.ts';
import { at, filledText, listOf, notOfFormat, readJson, textOf, webAddress, wholeNumber } from '../read-json.ts';

const FORMAT = 'eslint-json';

const LEVELS: ReadonlyMap<unknown, FindingLevel> = new Map<unknown, FindingLevel>([
  [2, 'error'],
  ['error', 'error'],
  [1, 'warning'],
  ['warning', 'warning'],
  ['warn', 'warning'],
]);

export const eslintJson = {
  format: FORMAT,
  read(text, context) {
    const root = readJson(text, FORMAT);
    const files = Array.isArray(root) ? root : at(root, 'results');
    if (!Array.isArray(files)) throw notOfFormat(FORMAT, 'it has no list of files');
    const collector = new FindingCollector(context, 'eslint');
    for (const file of files) addFile(file, at(root, 'metadata', 'rulesMeta'), collector);
    return collector.finish();
  },
} as const satisfies AnalyzerAdapter;

function addFile(file: unknown, rulesMeta: unknown, collector: FindingCollector): void {
  const messages = at(file, 'messages');
  if (!Array.isArray(messages)) {
    collector.drop('unreadable');
    return;
  }
  const source = textOf(at(file, 'source'));
  const seen: SeenFile = {
    path: filledText(at(file, 'filePath')),
    base: { unit: 'utf16', skipsMark: true, ...(source === undefined ? {} : { excerpt: { line: 1, text: source } }) },
    rulesMeta,
  };
  for (const message of messages) addMessage(message, seen, collector);
  for (const _ of listOf(at(file, 'suppressedMessages'))) collector.drop('suppressed');
}

interface SeenFile {
  readonly path: string | undefined;
  readonly base: { readonly unit: 'utf16'; readonly skipsMark: true; readonly excerpt?: Excerpt };
  readonly rulesMeta: unknown;
}

function addMessage(message: unknown, { path, base, rulesMeta }: SeenFile, collector: FindingCollector): void {
  const text = textOf(at(message, 'message'));
  if (text === undefined) {
    collector.drop('unreadable');
    return;
  }
  const rule = filledText(at(message, 'ruleId')) ?? (at(message, 'fatal') === true ? 'syntax' : 'eslint');
  const edit = editOf(message, path, base);
  collector.add({
    rule,
    level: at(message, 'fatal') === true ? 'error' : (LEVELS.get(at(message, 'severity')) ?? 'note'),
    message: text,
    path,
    place: { ...base, ...pointsOf(message) },
    ...(edit === undefined ? {} : { edits: [edit] }),
    docs: webAddress(at(rulesMeta, rule, 'docs', 'url')),
  });
}

function pointsOf(message: unknown): Pick<RawPlace, 'start' | 'end'> {
  const start = pointOf(at(message, 'line'), at(message, 'column'));
  const end = pointOf(at(message, 'endLine'), at(message, 'endColumn'));
  if (start === undefined) return {};
  return end === undefined ? { start } : { start, end };
}

/** What concerns the file as a whole has no line, or line 0. */
function pointOf(line: unknown, column: unknown): Point | undefined {
  const row = wholeNumber(line, 1);
  return row === undefined ? undefined : { line: row, col: wholeNumber(column, 1) ?? 1 };
}

/** Offset -1 is the byte order mark. */
function editOf(message: unknown, path: string | undefined, base: SeenFile['base']): FoundEdit | undefined {
  const range = at(message, 'fix', 'range');
  const [start, end] = [wholeNumber(at(range, 0), -1), wholeNumber(at(range, 1), -1)];
  const newText = textOf(at(message, 'fix', 'text'));
  if (start === undefined || end === undefined || end < start || newText === undefined) return undefined;
  return { path, place: { ...base, offsets: { start, end } }, newText };
}
