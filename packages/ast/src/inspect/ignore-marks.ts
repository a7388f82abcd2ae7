/** Comments of the form `sdk-ignore <rule>, <rule>`: in a comment of the language, not anywhere in the text. */
import type { ParsedSource } from '../parse/source-parser.ts';
import type { CodePlace, IgnoreMark } from './code-record.ts';

const MARK = /\bsdk-ignore\s+([\w.-]+(?:\s*,\s*[\w.-]+)*)/g;
/** A comment may be a node inside a node of the same text. */
const MAX_PARENTS = 3;

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
