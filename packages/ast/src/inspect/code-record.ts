/** What the rules of the commit phase want to know of one content: plain data that is kept with the content's name. */
import type { ParsedSource } from '../parse/source-parser.ts';

/** Goes into every key: what was kept under another version is not read. */
export const RECORD_VERSION = 1;

export interface CodePlace {
  readonly name: string;
  readonly line: number;
  /** First line of what belongs to it: attributes, decorators. */
  readonly from: number;
}

export interface UndocumentedPlace extends CodePlace {
  readonly id: string;
}

export interface ImportPlace {
  readonly source: string;
  readonly line: number;
  readonly typeOnly: boolean;
}

/** A comment that switches rules off for its last line and the line after. */
export interface IgnoreMark {
  readonly line: number;
  readonly rules: readonly string[];
}

export interface CodeRecord {
  readonly language: string;
  /** What people call the language's doc comments. */
  readonly docLabel: string;
  /** Exported functions and methods outside of tests. */
  readonly undocumented: readonly UndocumentedPlace[];
  /** What ends the program, in library code. */
  readonly panics: readonly CodePlace[];
  readonly unwraps: readonly CodePlace[];
  readonly imports: readonly ImportPlace[];
  readonly ignored: readonly IgnoreMark[];
  readonly unknown?: UnknownContent;
}

export type PlaceKind = 'undocumented' | 'panics' | 'unwraps' | 'imports';

/** A content that could not be read. */
export interface UnknownContent {
  /** `too_large`, `parse_timeout`, `unread`… */
  readonly reason: string;
  /** What it may hold, by its language. */
  readonly mayHold: readonly PlaceKind[];
}

const MARK = /\bsdk-ignore\s+([\w.-]+(?:\s*,\s*[\w.-]+)*)/g;
/** A comment may be a node inside a node of the same text. */
const MAX_PARENTS = 3;

/** Comments of the form `sdk-ignore <rule>, <rule>`: in a comment of the language, not anywhere in the text. */
export function ignoreMarks({ tree, source, parser }: ParsedSource): IgnoreMark[] {
  const { text } = source;
  if (!text.includes('sdk-ignore')) return [];
  const kinds = new Set(parser.profile.kinds.comment);
  return [...text.matchAll(MARK)].flatMap(({ index, 1: list = '' }) => {
    let node = tree.rootNode.descendantForIndex(index);
    for (let up = 0; node !== null && !kinds.has(node.type) && up < MAX_PARENTS; up++) node = node.parent;
    if (node === null || !kinds.has(node.type)) return [];
    const end = node.startIndex + text.slice(node.startIndex, node.endIndex).trimEnd().length;
    const rules = list.split(',').map((rule) => rule.trim().replace(/\.+$/, ''));
    return [{ line: source.rowOf(Math.max(node.startIndex, end - 1)) + 1, rules }];
  });
}

/** Whether a comment on the place's own lines, or right above them, names the rule. */
export function isIgnored(
  rule: string,
  { line, from }: Omit<CodePlace, 'name'>,
  marks: readonly IgnoreMark[],
): boolean {
  return marks.some((mark) => mark.line >= from - 1 && mark.line <= line && mark.rules.includes(rule));
}
