/**
 * By what one block of lines is indented differently from another: the same text in front of every line, missing in
 * front of every line, or tabs for a fixed number of blanks. Anything else is no shift.
 */

/** The indent in the file for an indent in the request; undefined when the rule says nothing about it. */
export type IndentShift = (indent: string) => string | undefined;

interface Pair {
  readonly asked: string;
  readonly found: string;
}

const TAB_WIDTHS = [2, 3, 4, 8] as const;

/** Both without line ends and of the same length. Undefined when the lines differ by more than their indent. */
export function findShift(asked: readonly string[], found: readonly string[]): IndentShift | undefined {
  const pairs: Pair[] = [];
  for (const [at, line] of asked.entries()) {
    const other = found[at] ?? '';
    if (contentOf(line) !== contentOf(other)) return undefined;
    if (contentOf(line) !== '') pairs.push({ asked: indentOf(line), found: indentOf(other) });
  }
  const [first] = pairs;
  if (first === undefined) return undefined;
  return candidates(first).find((shift) => pairs.every((pair) => shift(pair.asked) === pair.found));
}

/** The rules that explain one line; the right one explains all of them. */
function candidates({ asked, found }: Pair): readonly IndentShift[] {
  const rules: IndentShift[] = [];
  if (found.endsWith(asked)) {
    const more = found.slice(0, found.length - asked.length);
    rules.push((indent) => more + indent);
  }
  if (asked.endsWith(found)) {
    const less = asked.slice(0, asked.length - found.length);
    rules.push((indent) => (indent.startsWith(less) ? indent.slice(less.length) : undefined));
  }
  for (const width of TAB_WIDTHS) rules.push(...betweenTabsAndBlanks({ asked, found }, width));
  return rules;
}

function betweenTabsAndBlanks({ asked, found }: Pair, width: number): readonly IndentShift[] {
  const rules: IndentShift[] = [];
  if (/^ *$/.test(asked) && /^\t*$/.test(found)) {
    const offset = found.length - asked.length / width;
    rules.push((indent) => repeated('\t', /^ *$/.test(indent) ? indent.length / width + offset : Number.NaN));
  }
  if (/^\t*$/.test(asked) && /^ *$/.test(found)) {
    const offset = found.length - asked.length * width;
    rules.push((indent) => repeated(' ', /^\t*$/.test(indent) ? indent.length * width + offset : Number.NaN));
  }
  return rules;
}

function repeated(unit: string, count: number): string | undefined {
  return Number.isInteger(count) && count >= 0 ? unit.repeat(count) : undefined;
}

export function indentOf(line: string): string {
  return line.slice(0, blanksFrom(line));
}

/** Without the blanks and tabs around it. */
export function contentOf(line: string): string {
  let end = line.length;
  while (end > 0 && isBlank(line, end - 1)) end--;
  return line.slice(Math.min(blanksFrom(line), end), end);
}

function blanksFrom(line: string): number {
  let at = 0;
  while (isBlank(line, at)) at++;
  return at;
}

function isBlank(line: string, at: number): boolean {
  return line.charAt(at) === ' ' || line.charAt(at) === '\t';
}
