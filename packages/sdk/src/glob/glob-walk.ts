/**
 * Globs carried down a tree: what matches in this folder, and whether anything below a folder can still match.
 *
 * A level is the set of places in the patterns that the path so far has reached. Entering a folder moves each place one
 * segment on, so a walk never tests a whole path and never visits a folder in vain. It matches the same paths as
 * `compileGlobs`, for paths whose names are real names.
 */
import { type GlobPath, type GlobSegment, type GlobToken, parseGlob } from './glob-syntax.ts';
import { acceptsCode, matchWild } from './match-glob.ts';

export interface GlobLevel {
  /** Every entry of this folder and everything below it matches. */
  readonly matchesAll: boolean;
  matches(name: string): boolean;
  /** Undefined when nothing below the folder of that name can match. */
  enter(name: string): GlobLevel | undefined;
}

/** The level of the root. No patterns at all match everything. Throws E_VALIDATION_FAIL for a malformed pattern. */
export function walkGlobs(patterns: readonly string[]): GlobLevel {
  const paths = (patterns.length === 0 ? ['**'] : patterns).flatMap(parseGlob);
  const steps = paths.map((path): Step | undefined => {
    const tests = path.map(compileSegment);
    return tests.reduceRight<Step | undefined>((next, test) => ({ test, next }), undefined);
  });
  return new Level(closed(steps));
}

/** One segment and what follows it; `test` is undefined for `**`. */
interface Step {
  readonly test: SegmentTest | undefined;
  readonly next: Step | undefined;
}

class Level implements GlobLevel {
  readonly matchesAll: boolean;
  readonly #steps: ReadonlySet<Step>;
  readonly #lastTests: readonly SegmentTest[];
  readonly #inner: readonly Step[];
  readonly #stays: readonly Step[];
  #unchanged: Level | undefined;

  constructor(steps: ReadonlySet<Step>) {
    const all = [...steps];
    this.#steps = steps;
    this.matchesAll = all.some(({ test, next }) => test === undefined && next === undefined);
    this.#lastTests = all.flatMap(({ test, next }) => (test !== undefined && isEnd(next) ? [test] : []));
    this.#inner = all.filter(({ test, next }) => test !== undefined && next !== undefined);
    this.#stays = all.filter(({ test }) => test === undefined);
  }

  matches(name: string): boolean {
    if (this.matchesAll) return true;
    for (const test of this.#lastTests) if (test(name)) return true;
    return false;
  }

  enter(name: string): GlobLevel | undefined {
    if (this.matchesAll) return this;
    const moved = this.#inner.filter(({ test }) => test?.(name) === true).map(({ next }) => next);
    if (moved.length > 0) return new Level(closed([...this.#stays, ...moved]));
    if (this.#stays.length === 0) return undefined;
    this.#unchanged ??= this.#withoutMoves();
    return this.#unchanged;
  }

  /** Below a folder that only `**` took in, most often the very same places. */
  #withoutMoves(): Level {
    const steps = closed(this.#stays);
    return steps.size === this.#steps.size ? this : new Level(steps);
  }
}

/** A trailing `**` also matches nothing. */
function isEnd(step: Step | undefined): boolean {
  return step === undefined || (step.test === undefined && step.next === undefined);
}

/** `**` may take in nothing, so what follows it is reached together with it. */
function closed(steps: readonly (Step | undefined)[]): ReadonlySet<Step> {
  const reached = new Set<Step>();
  for (const step of steps) {
    for (let at = step; at !== undefined; at = at.next) {
      reached.add(at);
      if (at.test !== undefined) break;
    }
  }
  return reached;
}

type SegmentTest = (name: string) => boolean;

/** Undefined for `**`, which is no test on one name. */
function compileSegment(segment: GlobSegment): SegmentTest | undefined {
  if (segment.type === 'globstar') return undefined;
  if (segment.type === 'literal') {
    const { text } = segment;
    return (name) => name === text;
  }
  return compileTokens(segment.tokens);
}

function compileTokens(tokens: readonly GlobToken[]): SegmentTest {
  const star = tokens.findIndex((token) => token.type === 'star');
  const head = literalText(star < 0 ? tokens : tokens.slice(0, star));
  const tail = literalText(star < 0 ? [] : tokens.slice(star + 1));
  if (star < 0 || head === undefined || tail === undefined) return (name) => matchTokens(tokens, name);
  if (head === '') return tail === '' ? () => true : (name) => name.endsWith(tail);
  const shortest = head.length + tail.length;
  return (name) => name.length >= shortest && name.startsWith(head) && name.endsWith(tail);
}

function literalText(tokens: readonly GlobToken[]): string | undefined {
  let text = '';
  for (const token of tokens) {
    if (token.type !== 'char') return undefined;
    text += String.fromCharCode(token.code);
  }
  return text;
}

function matchTokens(tokens: readonly GlobToken[], name: string): boolean {
  return matchWild({
    patternLength: tokens.length,
    textLength: name.length,
    isStar: (at) => tokens[at]?.type === 'star',
    accepts: (at, character) => acceptsCode(tokens[at], name.charCodeAt(character)),
    swallows: () => true,
  });
}

/**
 * The folder that contains everything a set of globs can match, as far as their text shows. Names from the root down;
 * empty for the root itself, also without any pattern.
 */
export function globBase(patterns: readonly string[]): readonly string[] {
  const folders = patterns.flatMap(parseGlob).map(fixedFolder);
  const [first, ...others] = folders;
  if (first === undefined) return [];
  let shared = first.length;
  for (const folder of others) {
    let same = 0;
    while (same < shared && folder[same] === first[same]) same += 1;
    shared = same;
  }
  return first.slice(0, shared);
}

/** The last segment names the match itself, not a folder above it. */
function fixedFolder(path: GlobPath): readonly string[] {
  const names: string[] = [];
  for (const segment of path.slice(0, -1)) {
    if (segment.type !== 'literal') break;
    names.push(segment.text);
  }
  return names;
}
