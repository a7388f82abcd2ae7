/** The habits of a file that new text must follow: line ends, indentation, quotes. */

export interface TextStyle {
  readonly newline: '\n' | '\r\n';
  /** One level of indentation. */
  readonly indent: string;
}

/** Lines looked at: habits show early. */
const MAX_LINES = 2_000;
const WIDTHS = [2, 4, 8, 3];

export function readStyle(text: string, fallbackIndent: string): TextStyle {
  const feeds = text.split('\n', MAX_LINES).slice(0, -1);
  const crlf = feeds.filter((line) => line.endsWith('\r')).length;
  return { newline: crlf * 2 > feeds.length ? '\r\n' : '\n', indent: readIndent(feeds) ?? fallbackIndent };
}

/** Tabs or the step by which indentation mostly grows from a line to the next. */
function readIndent(lines: readonly string[]): string | undefined {
  let tabs = 0;
  let spaces = 0;
  let last = 0;
  const steps = new Map<number, number>();
  for (const line of lines) {
    const blank = indentOf(line);
    if (blank.length === line.trimEnd().length) continue;
    // The stars of a block comment are one column further in.
    if (/^\s*\*/.test(line)) continue;
    if (blank.startsWith('\t')) tabs++;
    else if (blank !== '') spaces++;
    if (blank.includes('\t')) continue;
    const step = blank.length - last;
    if (WIDTHS.includes(step)) steps.set(step, (steps.get(step) ?? 0) + 1);
    last = blank.length;
  }
  if (tabs > spaces) return '\t';
  if (spaces === 0) return undefined;
  const [best] = [...steps].sort((left, right) => right[1] - left[1] || left[0] - right[0]);
  return best === undefined ? undefined : ' '.repeat(best[0]);
}

/** White space a line begins with. */
export function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

/** Indentation of the line that holds an offset. */
export function indentAt(text: string, offset: number): string {
  return indentOf(text.slice(lineStart(text, offset)));
}

/** A byte order mark is not part of the first line. */
export function lineStart(text: string, offset: number): number {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return start === 0 && text.charCodeAt(0) === 0xfeff ? Math.min(1, offset) : start;
}

/** Before the line break, also before its `\r`. */
export function lineEnd(text: string, offset: number): number {
  const feed = text.indexOf('\n', offset);
  if (feed === -1) return text.length;
  return feed > offset && text[feed - 1] === '\r' ? feed - 1 : feed;
}

/** Behind the line break. */
export function nextLine(text: string, offset: number): number {
  const feed = text.indexOf('\n', offset);
  return feed === -1 ? text.length : feed + 1;
}

export function isBlank(text: string): boolean {
  return !/\S/.test(text);
}
