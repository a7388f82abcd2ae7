/**
 * SARIF 2.1.0, read tolerantly: producers disagree about columns and addresses (formats/sarif.ts), and ast-grep writes
 * its own version where the standard wants 2.1.0, so that field is not looked at.
 */
import { posix } from 'node:path';
import type { AnalyzerAdapter, ColumnUnit, FindingLevel, Point, RawPlace } from '../analyzer-adapter.ts';
import { FindingCollector, type FoundEdit } from '../finding-collector.ts';
import { at, filledText, listOf, notOfFormat, readJson, textOf, webAddress, wholeNumber } from '../read-json.ts';
import { percentDecoded, plainPath } from '../workspace-path.ts';

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

/** Only if it is no longer disputed. */
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

/** The words of a message: its own, or those its rule keeps under the id it names, with the arguments put in. */
function messageText(message: unknown, rule: unknown): string {
  const id = textOf(at(message, 'id'));
  const kept = id === undefined ? undefined : at(rule, 'messageStrings', id);
  const words =
    filledText(at(message, 'text')) ??
    filledText(at(message, 'markdown')) ??
    filledText(at(kept, 'text')) ??
    filledText(at(rule, 'shortDescription', 'text')) ??
    '';
  const values = at(message, 'arguments');
  return Array.isArray(values) ? fillIn(words, listOf(values)) : words;
}

/** `{0}` is the first argument, doubled braces are braces. */
function fillIn(words: string, values: readonly unknown[]): string {
  return words.replace(/\{\{|\}\}|\{(\d{1,3})\}/g, (found, number: string | undefined) => {
    if (number === undefined) return found.charAt(0);
    return textOf(values[Number(number)]) ?? found;
  });
}

/** A region as a place. It may be given by lines and columns, by characters, by bytes, or by several of these at once. */
function regionPlace(region: unknown, { unit }: Dialect): RawPlace {
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

/** The rules a run describes, found by place or by name, in the driver or in one of its extensions. */
class RuleBook {
  readonly #components: readonly (readonly unknown[])[];
  readonly #byId = new Map<string, unknown>();

  /** Component 0 is the driver, the extensions follow. */
  constructor(run: unknown) {
    const components = [at(run, 'tool', 'driver'), ...listOf(at(run, 'tool', 'extensions'))];
    this.#components = components.map((component) => listOf(at(component, 'rules')));
    for (const rule of this.#components.flat()) {
      const id = textOf(at(rule, 'id'));
      if (id !== undefined && !this.#byId.has(id)) this.#byId.set(id, rule);
    }
  }

  /** The name and what is written about it; a result may name a rule that is not described. */
  ruleOf(result: unknown): { readonly id: string; readonly rule: unknown } {
    const named = filledText(at(result, 'ruleId')) ?? filledText(at(result, 'rule', 'id'));
    const rule = this.#byPlace(result) ?? this.#byName(named);
    return { id: named ?? filledText(at(rule, 'id')) ?? 'unknown', rule };
  }

  #byPlace(result: unknown): unknown {
    const index = wholeNumber(at(result, 'ruleIndex')) ?? wholeNumber(at(result, 'rule', 'index'));
    if (index === undefined) return undefined;
    const extension = wholeNumber(at(result, 'rule', 'toolComponent', 'index'));
    return this.#components[extension === undefined ? 0 : extension + 1]?.[index];
  }

  /** A result may refine a rule's name by further parts after a slash. */
  #byName(id: string | undefined): unknown {
    for (let name = id ?? ''; name !== ''; name = name.slice(0, Math.max(0, name.lastIndexOf('/')))) {
      const rule = this.#byId.get(name);
      if (rule !== undefined) return rule;
    }
    return undefined;
  }
}

export interface Dialect {
  readonly unit: ColumnUnit;
  /** Addresses are plain paths: a percent sign in one is part of the name. */
  readonly hasPlainPaths: boolean;
}

const KNOWN: readonly (Dialect & { readonly driver: RegExp })[] = [
  { driver: /^ast-grep$/i, unit: 'code_point', hasPlainPaths: true },
  { driver: /^biome$/i, unit: 'code_point', hasPlainPaths: true },
  // Says unicodeCodePoints and counts bytes.
  { driver: /^oxlint$/i, unit: 'byte', hasPlainPaths: true },
  { driver: /^semgrep\b/i, unit: 'byte', hasPlainPaths: false },
];

/**
 * How producers read the standard differently, as found by running them on lines with wide characters and files with odd
 * names. Semgrep's entry follows reports in its issue tracker; it was not run.
 *
 * What a run declares counts only where its producer is unknown; the default is code points.
 */
function dialectOf(run: unknown): Dialect {
  const driver = textOf(at(run, 'tool', 'driver', 'name')) ?? '';
  const known = KNOWN.find((dialect) => dialect.driver.test(driver));
  if (known !== undefined) return known;
  return { unit: at(run, 'columnKind') === 'utf16CodeUnits' ? 'utf16' : 'code_point', hasPlainPaths: false };
}

/** Bases may build on each other; a chain that is longer than this is a circle. */
const MAX_BASES = 16;
/** Anything else in an address shows that it was not encoded. */
const ENCODED = /^[\w\-.~:/?#[\]@!$&'()*+,;=%]*$/;

/**
 * Where an artifactLocation points: its address, the bases it builds on, and the list of artifacts it may refer to.
 *
 * A path, absolute or from the folder the analyzer ran in; undefined if it is missing or not a file.
 */
function artifactPath(location: unknown, run: unknown, dialect: Dialect): string | undefined {
  const index = wholeNumber(at(location, 'index'));
  const listed = index === undefined ? undefined : at(run, 'artifacts', index, 'location');
  const named = filledText(at(location, 'uri')) === undefined ? listed : location;
  return resolve(named, { run, dialect, basesLeft: MAX_BASES });
}

interface Search {
  readonly run: unknown;
  readonly dialect: Dialect;
  readonly basesLeft: number;
}

function resolve(location: unknown, search: Search): string | undefined {
  const address = filledText(at(location, 'uri'));
  const path = address === undefined ? undefined : pathOf(address, search.dialect);
  if (path === undefined || path.startsWith('/')) return path;
  const base = baseOf(location, search);
  return base === undefined ? path : posix.join(base, path);
}

/** Undefined also for a base without an address: by convention that is the folder that was analyzed. */
function baseOf(location: unknown, { basesLeft, ...search }: Search): string | undefined {
  const id = filledText(at(location, 'uriBaseId'));
  if (id === undefined || basesLeft === 0) return undefined;
  return resolve(at(search.run, 'originalUriBaseIds', id), { ...search, basesLeft: basesLeft - 1 });
}

function pathOf(address: string, { hasPlainPaths }: Dialect): string | undefined {
  if (hasPlainPaths && !/^file:/i.test(address)) return address;
  const path = plainPath(address);
  return path === address && ENCODED.test(address) ? percentDecoded(address) : path;
}
