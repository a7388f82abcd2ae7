/**
 * SARIF 2.1.0, read tolerantly: producers disagree about columns and addresses (sarif/dialect.ts), and ast-grep writes
 * its own version where the standard wants 2.1.0, so that field is not looked at.
 */
import type { AnalyzerAdapter } from '../analyzer-adapter.ts';
import type { FindingLevel } from '../analyzer-finding.ts';
import { FindingCollector, type FoundEdit } from '../finding-collector.ts';
import { at, filledText, listOf, textOf, webAddress } from '../loose-json.ts';
import { notOfFormat, readJson } from '../read-json.ts';
import { artifactPath } from './sarif/artifact-path.ts';
import { type Dialect, dialectOf } from './sarif/dialect.ts';
import { messageText } from './sarif/message-text.ts';
import { regionPlace } from './sarif/region-place.ts';
import { RuleBook } from './sarif/rule-book.ts';

const FORMAT = 'sarif';

const LEVELS: ReadonlyMap<unknown, FindingLevel> = new Map([
  ['error', 'error'],
  ['warning', 'warning'],
  ['note', 'note'],
  ['none', 'note'],
]);

export const sarif = {
  format: FORMAT,
  read(text, context) {
    const runs = at(readJson(text, FORMAT), 'runs');
    if (!Array.isArray(runs)) throw notOfFormat(FORMAT, 'it has no list of runs');
    const parts = runs.map((run) => {
      const collector = new FindingCollector(context, filledText(at(run, 'tool', 'driver', 'name')) ?? 'sarif');
      readRun(run, collector);
      return collector.finish();
    });
    return { findings: parts.flatMap((part) => part.findings), notes: parts.flatMap((part) => part.notes) };
  },
} as const satisfies AnalyzerAdapter;

interface RunView {
  readonly run: unknown;
  readonly dialect: Dialect;
  readonly rules: RuleBook;
}

function readRun(run: unknown, collector: FindingCollector): void {
  const view: RunView = { run, dialect: dialectOf(run), rules: new RuleBook(run) };
  for (const result of listOf(at(run, 'results'))) addResult(result, view, collector);
  for (const invocation of listOf(at(run, 'invocations'))) addComplaints(invocation, collector);
}

function addResult(result: unknown, { run, dialect, rules }: RunView, collector: FindingCollector): void {
  if (typeof result !== 'object' || result === null) {
    collector.drop('unreadable');
    return;
  }
  if (isPassed(result)) return;
  if (isSuppressed(result)) {
    collector.drop('suppressed');
    return;
  }
  const { id, rule } = rules.ruleOf(result);
  const physical = listOf(at(result, 'locations'))
    .map((location) => at(location, 'physicalLocation'))
    .find((location) => location !== undefined);
  collector.add({
    rule: id,
    level: levelOf(result, rule),
    message: messageText(at(result, 'message'), rule),
    path: artifactPath(at(physical, 'artifactLocation'), run, dialect),
    place: regionPlace(at(physical, 'region'), dialect),
    edits: editsOf(at(result, 'fixes', 0), run, dialect),
    docs: webAddress(at(rule, 'helpUri')),
  });
}

/** Reports of what is in order, or of what an earlier run found and this one did not. */
function isPassed(result: object): boolean {
  const kind = at(result, 'kind');
  return kind === 'pass' || kind === 'notApplicable' || at(result, 'baselineState') === 'absent';
}

/** Only when nobody still disputes it. */
function isSuppressed(result: object): boolean {
  const states = listOf(at(result, 'suppressions')).map((suppression) => at(suppression, 'status') ?? 'accepted');
  return states.length > 0 && states.every((state) => state === 'accepted');
}

function levelOf(result: object, rule: unknown): FindingLevel {
  const stated = LEVELS.get(at(result, 'level'));
  if (stated !== undefined) return stated;
  const kind = at(result, 'kind');
  if (kind !== undefined && kind !== 'fail') return 'note';
  return LEVELS.get(at(rule, 'defaultConfiguration', 'level')) ?? 'warning';
}

/** Several fixes are alternatives; the first is meant. Binary content is no text to insert and leaves no fix. */
function editsOf(fix: unknown, run: unknown, dialect: Dialect): readonly FoundEdit[] {
  return listOf(at(fix, 'artifactChanges')).flatMap((change) => {
    const path = artifactPath(at(change, 'artifactLocation'), run, dialect);
    return listOf(at(change, 'replacements')).map((replacement) => {
      const inserted = at(replacement, 'insertedContent');
      const newText = inserted === undefined ? '' : textOf(at(inserted, 'text'));
      const place = regionPlace(at(replacement, 'deletedRegion'), dialect);
      return { path: newText === undefined ? undefined : path, place, newText: newText ?? '' };
    });
  });
}

function addComplaints(invocation: unknown, collector: FindingCollector): void {
  if (at(invocation, 'executionSuccessful') === false) {
    const description = filledText(at(invocation, 'exitCodeDescription')) ?? 'no reason given';
    collector.complain(`The analyzer calls its own run unsuccessful: ${description}`);
  }
  const lists = ['toolExecutionNotifications', 'toolConfigurationNotifications'];
  for (const notification of lists.flatMap((name) => listOf(at(invocation, name)))) {
    if (at(notification, 'level') === 'error') collector.complain(messageText(at(notification, 'message'), undefined));
  }
}
