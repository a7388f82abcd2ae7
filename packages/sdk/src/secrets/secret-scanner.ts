/**
 * Finds secrets in the content of files: known formats, key blocks, values the host holds, and guesses by name.
 *
 * One pass over the text finds the few places where anything could match; only there patterns are tried. Rules of the
 * preset read a whole window, and only when such a place is one of theirs.
 */
import { createHash } from 'node:crypto';
import { createAnchorIndex } from './anchor-index.ts';
import { PRESET_RULES, type PresetRule } from './preset-rules.ts';
import { describeKind, type SecretFinding, type SecretMatch } from './secret-finding.ts';
import { SHAPE_DETECTORS, type ShapeDetector } from './shape-detectors.ts';
import { narrowText, plainSource, type TextSource, textSources, widenMatches } from './text-source.ts';

export interface SecretScannerOptions {
  /** Found word for word, whatever they look like; values below six characters are left out. */
  readonly knownSecrets?: readonly string[];
  /** Files above this size are read in windows. */
  readonly windowSize?: WindowSize;
}

export interface SecretScanner {
  /** By place. The name is not scanned; it tells which file types the content may be. */
  scan(input: { readonly name: string; readonly bytes: Uint8Array }): Promise<readonly SecretFinding[]>;
  scanText(name: string, text: string): Promise<readonly SecretFinding[]>;
}

type FindMatches = (name: string, text: string) => Promise<readonly SecretMatch[]>;

export function createSecretScanner(options: SecretScannerOptions = {}): SecretScanner {
  const findMatches = matchFinder(findKnownSecrets(options.knownSecrets ?? []));
  const windowSize = options.windowSize ?? WINDOW_SIZE;

  function scanSource(name: string, source: TextSource): Promise<readonly SecretFinding[]> {
    const find: FindMatches = source.isBinary ? alsoWide(findMatches) : findMatches;
    return findInWindows(splitWindows(source, windowSize), (text) => find(name, text));
  }

  async function scan({ name, bytes }: { name: string; bytes: Uint8Array }): Promise<readonly SecretFinding[]> {
    const [best, other] = textSources(bytes);
    const findings = best === undefined ? [] : await scanSource(name, best);
    return other === undefined ? findings : addUnseen(findings, await scanSource(name, other));
  }

  return { scan, scanText: (name, text) => scanSource(name, plainSource(text)) };
}

function matchFinder(findKnown: FindKnown): FindMatches {
  const index = createAnchorIndex<ShapeDetector | PresetRule>([...SHAPE_DETECTORS, ...PRESET_RULES]);
  const ungated = PRESET_RULES.filter((rule) => rule.anchors.length === 0);

  return async (name, text) => {
    const matches = [...findKnown(text)];
    const due = new Set<PresetRule>(ungated);
    index.visit(text, (detector, offset) => {
      if ('find' in detector) {
        const match = detector.find(text, offset);
        if (match !== undefined) matches.push(match);
      } else if (!due.has(detector) && detector.mayMatch(text, offset)) due.add(detector);
    });
    for (const rule of due) for (const match of await rule.run({ name, text })) matches.push(match);
    return mergeMatches(matches);
  };
}

function alsoWide(findMatches: FindMatches): FindMatches {
  return async (name, text) => {
    const plain = await findMatches(name, text);
    const narrow = narrowText(text);
    if (narrow === undefined) return plain;
    return mergeMatches([...plain, ...widenMatches(await findMatches(name, narrow), text)]);
  };
}

interface Place {
  readonly line: number;
  /** Characters of the line before this place. */
  readonly column: number;
}

async function findInWindows(
  windows: Iterable<TextWindow>,
  find: (text: string) => Promise<readonly SecretMatch[]>,
): Promise<readonly SecretFinding[]> {
  const findings: SecretFinding[] = [];
  let place: Place = { line: 1, column: 0 };
  for (const { text, from, to, isLast } of windows) {
    let at = from;
    for (const match of await find(text)) {
      if (match.start < from || match.start >= to) continue;
      place = advance(place, text, [at, match.start]);
      at = match.start;
      findings.push(describeMatch(match, place));
    }
    if (isLast) break;
    place = advance(place, text, [at, to]);
    // A large file must not hold up other calls.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return findings;
}

function advance(place: Place, text: string, [from, to]: readonly [number, number]): Place {
  let { line, column } = place;
  let start = from;
  for (let feed = text.indexOf('\n', start); feed !== -1 && feed < to; feed = text.indexOf('\n', start)) {
    line += 1;
    column = 0;
    start = feed + 1;
  }
  return { line, column: column + to - start };
}

function describeMatch({ kind, value }: SecretMatch, { line, column }: Place): SecretFinding {
  const fingerprint = createHash('sha256').update(value, 'utf8').digest('hex');
  return { rule: kind, line, column: column + 1, message: describeKind(kind).title, fingerprint };
}

/** Two readings of the same bytes: a secret seen in the better one is not reported again. */
function addUnseen(findings: readonly SecretFinding[], others: readonly SecretFinding[]): readonly SecretFinding[] {
  const seen = new Set(findings.map((finding) => finding.fingerprint));
  const unseen = others.filter((finding) => !seen.has(finding.fingerprint));
  return [...findings, ...unseen].sort((one, other) => one.line - other.line || one.column - other.column);
}

/** Anything shorter appears in other texts by accident. */
const MIN_LENGTH = 6;

type FindKnown = (text: string) => readonly SecretMatch[];

/** Values the host itself holds as secrets, found wherever they are word for word. */
function findKnownSecrets(secrets: readonly string[]): FindKnown {
  const long = secrets.filter((secret) => secret.length >= MIN_LENGTH);
  const forms = new Set(long.flatMap((secret) => [secret, asBytes(secret)]));
  if (forms.size === 0) return () => [];
  // Longest first, so that a secret inside another does not stand for it.
  const longestFirst = [...forms].sort((one, other) => other.length - one.length);
  const source = longestFirst.map((form) => form.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|');
  return (text) =>
    Array.from(text.matchAll(new RegExp(source, 'g')), ({ index, 0: value }) => ({
      kind: 'known-secret',
      start: index,
      end: index + value.length,
      value,
    }));
}

/** How the secret looks where a file is read byte by byte; the same for ASCII. */
function asBytes(secret: string): string {
  return Buffer.from(secret, 'utf8').toString('latin1');
}

/** In order of their place; at the same place the longer first. */
function mergeMatches(matches: readonly SecretMatch[]): readonly SecretMatch[] {
  const inOrder = matches.toSorted((one, other) => one.start - other.start || other.end - one.end);
  const kept: SecretMatch[] = [];
  for (const match of inOrder) {
    const last = kept.at(-1);
    if (last === undefined || match.start >= last.end) kept.push(match);
    else if (rankOf(match) > rankOf(last)) kept[kept.length - 1] = match;
  }
  return kept;
}

function rankOf(match: SecretMatch): number {
  return describeKind(match.kind).rank;
}

interface WindowSize {
  readonly units: number;
  /** Larger than any secret with its name. */
  readonly margin: number;
}

interface TextWindow {
  readonly text: string;
  /** The owned part of the text. */
  readonly from: number;
  readonly to: number;
  readonly isLast: boolean;
}

/** Small enough that other work gets its turn between two windows of even the most awkward text. */
const WINDOW_SIZE: WindowSize = { units: 1024 * 1024, margin: 64 * 1024 };

/**
 * A long text in windows that overlap on both sides.
 *
 * A window owns the middle part: what begins there is its to report. What begins in the margins is seen only so that
 * neighbours read a place at the border with the same text around it.
 */
export function* splitWindows(source: TextSource, { units, margin }: WindowSize): Generator<TextWindow> {
  const { length } = source;
  const cut = (at: number): number => (at >= length ? length : source.cut(Math.max(at, 0)));
  for (let start = 0; start < length; ) {
    const end = cut(start + units);
    const before = source.slice(cut(start - margin), start);
    const own = source.slice(start, end);
    const after = source.slice(end, cut(end + margin));
    const from = before.length;
    yield { text: before + own + after, from, to: from + own.length, isLast: end === length };
    start = end;
  }
}
