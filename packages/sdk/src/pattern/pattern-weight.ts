/**
 * What a pattern costs to compile and to run, estimated without compiling it.
 *
 * Matching is linear in the text, but counted repeats are copied out: 1 KiB of `\pL{1000}` takes seconds to compile, and
 * a registry may hold thousands of patterns. So each pattern is bounded, and so is their sum.
 */
import { isJsonObject, type JsonValue } from '@tool-runtime/protocol';

export const MAX_PATTERN_WEIGHT = 2048;
const MAX_TOTAL_WEIGHT = 16_384;
const MAX_PATTERNS = 256;
/** A class of characters is a table of ranges; the named Unicode ones are long. */
const CLASS_WEIGHT = 4;
const NAMED_CLASS_WEIGHT = 8;

const REPEAT = /^\{(\d+)(?:,(\d*))?\}/;
const NAMED_CLASS = /\\[pP]/g;
/** Flags are not an atom: a repeat after them applies to what comes before. */
const FLAGS = /^\(\?[a-zA-Z-]+\)/;

function repeatAt(source: string, at: number): { readonly count: number; readonly length: number } | undefined {
  const found = REPEAT.exec(source.slice(at, at + 24));
  if (found === null) return undefined;
  return { count: Math.max(1, Number(found[1]), Number(found[2] ?? 0)), length: found[0].length };
}

/** The atom that starts here: where it ends and what it weighs. */
function readAtom(source: string, at: number): { readonly end: number; readonly weight: number } {
  const isEscape = source[at] === '\\';
  if (!isEscape && source[at] !== '[') return { end: at + 1, weight: 1 };
  const end = Math.max(at + 1, isEscape ? skipEscape(source, at) : skipClass(source, at));
  const text = source.slice(at, end);
  const named = text.match(NAMED_CLASS)?.length ?? 0;
  if (isEscape) return { end, weight: named > 0 ? NAMED_CLASS_WEIGHT : text.length };
  return { end, weight: CLASS_WEIGHT + named * NAMED_CLASS_WEIGHT };
}

export function patternWeight(source: string): number {
  const outer: number[] = [];
  let group = 0;
  let last = 0;
  for (let at = 0; at < source.length; ) {
    const character = source[at] ?? '';
    const repeat = character === '{' ? repeatAt(source, at) : undefined;
    const flags = character === '(' ? FLAGS.exec(source.slice(at, at + 16))?.[0] : undefined;
    if (flags !== undefined) at += flags.length;
    else if (repeat !== undefined) {
      group += last * (repeat.count - 1);
      last *= repeat.count;
      at += repeat.length;
    } else if (character === '(') {
      outer.push(group);
      [group, last] = [0, 0];
      at++;
    } else if (character === ')') {
      last = group + 1;
      group = (outer.pop() ?? 0) + last;
      at++;
    } else if ('*+?'.includes(character)) at++;
    else {
      const atom = readAtom(source, at);
      last = atom.weight;
      group += last;
      at = atom.end;
    }
  }
  return outer.reduce((sum, weight) => sum + weight, group);
}

function writtenPatterns(root: JsonValue): readonly string[] {
  if (!isJsonObject(root)) return [];
  const list = root['shell_allow'];
  const entries: readonly JsonValue[] = Array.isArray(list) ? list : [];
  const patterns = entries.map((entry) => (isJsonObject(entry) ? entry['pattern'] : entry));
  const all = [...patterns, root['branch_pattern'], ...schemaPatterns(root['external_tools'])];
  return all.filter((pattern) => typeof pattern === 'string');
}

/** Whatever is called `pattern` somewhere in the schemas of external tools. */
function schemaPatterns(value: JsonValue | undefined): readonly JsonValue[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    ...(key === 'pattern' ? [inner as JsonValue] : []),
    ...schemaPatterns(inner as JsonValue),
  ]);
}

/** A registry whose patterns together would cost too much; patterns too large by themselves are named one by one. */
export function patternsTooLarge(root: JsonValue): { readonly path: string; readonly message: string } | undefined {
  const patterns = writtenPatterns(root);
  if (patterns.length > MAX_PATTERNS) {
    return { path: 'shell_allow', message: `Too many patterns: ${patterns.length} (at most ${MAX_PATTERNS})` };
  }
  const weights = patterns.map(patternWeight).filter((weight) => weight <= MAX_PATTERN_WEIGHT);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total <= MAX_TOTAL_WEIGHT) return undefined;
  return { path: 'shell_allow', message: 'Patterns are too large together: write fewer or smaller repeats' };
}

/**
 * Steps over the parts of a pattern in which brackets and bars mean nothing.
 * Made for patterns the engine accepts; on others the answer is some index further on, never one further back.
 *
 * The index after an escape, a named class (`\p{Greek}`) or a `\Q…\E` quotation that starts at `at`.
 */
export function skipEscape(source: string, at: number): number {
  const kind = source[at + 1];
  if (kind === 'p' || kind === 'P')
    return source[at + 2] === '{' ? source.indexOf('}', at) + 1 || source.length : at + 3;
  if (kind !== 'Q') return at + 2;
  const end = source.indexOf('\\E', at + 2);
  return end === -1 ? source.length : end + 2;
}

/** The index after a character class that starts at `at`; a `]` in first position is a member. */
export function skipClass(source: string, at: number): number {
  let next = at + 1;
  if (source[next] === '^') next++;
  if (source[next] === ']') next++;
  while (next < source.length && source[next] !== ']') {
    if (source[next] === '\\') next += 2;
    else if (source.startsWith('[:', next)) next = Math.max(source.indexOf(':]', next), next) + 2;
    else next++;
  }
  return next + 1;
}
