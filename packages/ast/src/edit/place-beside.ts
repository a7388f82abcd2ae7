/**
 * Writes a new declaration beside an existing one: same container, same indentation, blank lines by the file's habit.
 *
 * Answers several ways, the likelier first: whether members are separated by commas shows in the tree only when there
 * are some already.
 */
import type { NodeFact } from '../contracts/facts.ts';
import { type DeclarationLines, linesOf, withComments } from './declaration-lines.ts';
import type { Draft } from './draft.ts';
import { newText } from './fit-block.ts';
import { nodeOf } from './syntax-node.ts';
import type { TextEdit } from './text-edit.ts';
import { indentAt, indentOf, isBlank, lineEnd, lineStart, nextLine } from './text-style.ts';

export type Side = 'before' | 'after';
type Ways = readonly (readonly TextEdit[])[];

export function placeBeside(draft: Draft, node: NodeFact, given: string, side: Side): Ways {
  const lines = linesOf(draft, node);
  const ways = lines === undefined ? inline(draft, node, given, side) : onLines(draft, node, given, { side, lines });
  return hasCommas(draft, node) ? ways.toReversed() : ways;
}

interface Spot {
  readonly side: Side;
  readonly lines: DeclarationLines;
}

function onLines(draft: Draft, node: NodeFact, given: string, { side, lines }: Spot): Ways {
  const { text, style } = draft;
  const range = draft.units(node.span);
  const indent = indentAt(text, range.start);
  const block = newText(draft, given, indent);
  const gap = usualGap(draft, { parent: node.parent, isLarge: block.includes('\n') || takesLines(node) });
  const bare = block.replace(/,$/, '');
  if (side === 'before') {
    const at = withComments(draft, lines).start;
    const lead = style.newline.repeat(missingAbove(text, at, indent, gap));
    const write = (fresh: string) => [
      { start: at, end: at, text: lead + indent + fresh + style.newline.repeat(gap + 1) },
    ];
    return [write(block), write(`${bare},`)];
  }
  const at = lines.end;
  const tail = style.newline.repeat(missingBelow(text, at, indent, gap));
  const write = (fresh: string) => ({
    start: at,
    end: at,
    text: style.newline.repeat(gap + 1) + indent + fresh + tail,
  });
  const comma = commaBehind(draft, node);
  const joined = comma === undefined ? [{ start: range.end, end: range.end, text: ',' }] : [];
  return [[write(block)], [...joined, write(comma === undefined ? bare : `${bare},`)]];
}

/** On a line with other code. */
function inline(draft: Draft, node: NodeFact, given: string, side: Side): Ways {
  const range = draft.units(node.fullSpan);
  const block = newText(draft, given, indentAt(draft.text, range.start));
  const bare = block.replace(/,$/, '');
  if (side === 'before') {
    const write = (fresh: string) => [{ start: range.start, end: range.start, text: `${fresh} ` }];
    return [write(block), write(`${bare},`)];
  }
  const end = commaBehind(draft, node) ?? range.end;
  const plain = [{ start: end, end, text: ` ${block}` }];
  const joined = end === range.end ? `, ${bare}` : ` ${bare},`;
  return [plain, [{ start: end, end, text: joined }]];
}

/** Behind the comma that follows. */
function commaBehind(draft: Draft, node: NodeFact): number | undefined {
  const { end } = draft.units(node.span);
  const found = /^\s*,/.exec(draft.text.slice(end, end + 200));
  return found === null ? undefined : end + found[0].length;
}

function hasCommas(draft: Draft, node: NodeFact): boolean {
  const { start, end } = draft.units(node.span);
  const parent = nodeOf(draft, start, end)?.parent;
  return parent?.children.some((child) => child?.type === ',') ?? false;
}

/** Blank lines to add so that what follows keeps its distance; none before the end of the container. */
function missingBelow(text: string, at: number, indent: string, gap: number): number {
  let blank = 0;
  for (let line = nextLine(text, at); line < text.length; line = nextLine(text, line)) {
    const content = text.slice(line, lineEnd(text, line));
    if (isBlank(content)) blank++;
    else return isOutside(content, indent) ? 0 : Math.max(0, gap - blank);
  }
  return 0;
}

function missingAbove(text: string, at: number, indent: string, gap: number): number {
  let blank = 0;
  for (let end = at; end > 0 && text[end - 1] === '\n'; ) {
    const start = lineStart(text, end - 1);
    const content = text.slice(start, lineEnd(text, start));
    if (!isBlank(content)) return isOutside(content, indent) || opens(content) ? 0 : Math.max(0, gap - blank);
    blank++;
    end = start;
  }
  return 0;
}

function isOutside(line: string, indent: string): boolean {
  return indentOf(line).length < indent.length || /^\s*(?:[)}\]]|end\b)/.test(line);
}

function opens(line: string): boolean {
  return /[{([:]\s*$/.test(line);
}

/** Pairs looked at. */
const MAX_PAIRS = 50;
const MAX_GAP = 2;

interface GapQuery {
  /** Place of the container in the facts; -1 for the top. */
  readonly parent: number;
  /** Whether one of the two takes several lines: then usually a blank line is left. */
  readonly isLarge: boolean;
}

/** How many blank lines a file leaves between declarations of one container: its habit, read off its neighbours. */
export function usualGap(draft: Draft, { parent, isLarge }: GapQuery): number {
  const families = Map.groupBy(draft.facts.nodes, (node) => node.parent);
  const gaps = gapsIn(draft, families.get(parent) ?? [], isLarge);
  if (gaps.length > 0) return mostFrequent(gaps, isLarge);
  const other: number[] = [];
  // Containers of one file share a habit; the top of a file often has another.
  for (const [container, siblings] of families) {
    if (other.length >= MAX_PAIRS || parent === -1) break;
    if (container !== -1) other.push(...gapsIn(draft, siblings, isLarge));
  }
  return other.length > 0 ? mostFrequent(other, isLarge) : Number(isLarge);
}

function gapsIn(draft: Draft, family: readonly NodeFact[], isLarge: boolean): number[] {
  const siblings = family.slice(0, MAX_PAIRS);
  const gaps: number[] = [];
  for (const [index, node] of siblings.entries()) {
    const next = siblings[index + 1];
    if (next === undefined || next.fullSpan.start < node.fullSpan.end) continue;
    if ((takesLines(node) || takesLines(next)) !== isLarge) continue;
    const gap = blankLinesBetween(draft, node, next);
    if (gap !== undefined) gaps.push(gap);
  }
  return gaps;
}

function blankLinesBetween(draft: Draft, node: NodeFact, next: NodeFact): number | undefined {
  const [lines, below] = [linesOf(draft, node), linesOf(draft, next)];
  if (lines === undefined || below === undefined || below.start < lines.end) return undefined;
  const between = draft.text.slice(lines.end, below.start);
  return /\S/.test(between) ? undefined : between.split('\n').length - 2;
}

function takesLines(node: NodeFact): boolean {
  return node.endLine > node.line;
}

/** When in doubt, large declarations are set apart and small ones kept together. */
function mostFrequent(numbers: readonly number[], isLarge: boolean): number {
  const counts = Map.groupBy(numbers, (one) => Math.min(one, MAX_GAP));
  const [best] = [...counts].sort(
    (left, right) => right[1].length - left[1].length || (isLarge ? right[0] - left[0] : left[0] - right[0]),
  );
  return best?.[0] ?? 0;
}

/** Says when an insertion declares what its container declares already: callers may have meant to replace it. */
export function warnOfTwins(
  { facts, path }: Draft,
  before: readonly NodeFact[],
  warn: (warning: string) => void,
): void {
  const known = new Set(before.map(({ id }) => id));
  const key = ({ type, container, name }: NodeFact) => `${type}\0${container}\0${name}`;
  const keys = new Set(before.map(key));
  for (const node of facts.nodes) {
    if (!known.has(node.id) && keys.has(key(node))) warn(`declared twice now: ${node.name} in ${path}`);
  }
}
