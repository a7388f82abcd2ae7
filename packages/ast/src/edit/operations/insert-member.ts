/** Adds a declaration as the first or last member of a container. */
import type { ToolError } from '@tool-runtime/protocol';
import type { Node } from 'web-tree-sitter';
import type { NodeFact } from '../../contracts/facts.ts';
import { commitFirst, keepsDeclarations, type TrialCheck } from '../commit-edits.ts';
import { docstringOf } from '../declaration-lines.ts';
import type { Draft } from '../draft.ts';
import type { Target } from '../edit-desk.ts';
import { refuseEdit } from '../edit-failures.ts';
import { newText } from '../fit-block.ts';
import { placeBeside, warnOfTwins } from '../place-beside.ts';
import { bodyNode, parts } from '../syntax-node.ts';
import type { TextEdit } from '../text-edit.ts';
import { indentAt, isBlank, lineStart } from '../text-style.ts';
import { type Planner, requireEditable } from '../work.ts';

const CONTAINERS: readonly string[] = [
  'class',
  'struct',
  'enum',
  'interface',
  'impl',
  'module',
  'test',
  'const',
  'var',
];

export const insertMember: Planner<'insert_member'> = async (operation, { desk, warn }) => {
  const target = await desk.target(operation);
  const { draft, node, at } = target;
  requireEditable(draft, operation);
  const body = bodyNode(draft, node);
  if (body === undefined || !CONTAINERS.includes(node.type)) throw noContainer(target);
  const before = draft.facts.nodes;
  const keeps = keepsDeclarations(draft);
  const check: TrialCheck = (trial, edits) => keeps(trial, edits) ?? joined(target, trial.facts.nodes, before.length);
  const neighbour = neighbourOf(draft, at, body, operation.position);
  const ways =
    neighbour === undefined
      ? intoBody(target, body, operation.text)
      : placeBeside(draft, neighbour, operation.text, operation.position === 'first' ? 'before' : 'after');
  commitFirst(draft, ways, { warn, check });
  warnOfTwins(draft, before, warn);
  return { confidence: 'tree' };
};

/** The member at the end where the new one goes, if only declarations come after it. */
function neighbourOf(draft: Draft, at: number, body: Node, position: 'first' | 'last'): NodeFact | undefined {
  const members = draft.facts.nodes.filter(({ parent, span }) => {
    const { start, end } = draft.units(span);
    return parent === at && body.startIndex <= start && end <= body.endIndex;
  });
  const member = position === 'first' ? members[0] : members.at(-1);
  if (member === undefined) return undefined;
  const edge = position === 'first' ? firstPart(draft, draft.facts.nodes[at], body) : parts(body, draft).at(-1);
  const { start, end } = draft.units(member.fullSpan);
  if (edge === undefined) return member;
  return position === 'first'
    ? edge.startIndex >= start
      ? member
      : undefined
    : edge.endIndex <= end + 1
      ? member
      : undefined;
}

function firstPart(draft: Draft, node: NodeFact | undefined, body: Node): Node | undefined {
  const doc = node === undefined ? undefined : docstringOf(draft, node);
  return parts(body, draft).find((part) => doc === undefined || part.startIndex >= doc.end);
}

/** Into an empty body, or after statements that are not declarations. */
function intoBody({ draft, node }: Target, body: Node, given: string): readonly (readonly TextEdit[])[] {
  const { text, style } = draft;
  const outer = indentAt(text, draft.units(node.span).start);
  const inner = outer + style.indent;
  const last = parts(body, draft).at(-1);
  const { newline } = style;
  const block = newText(draft, given, last === undefined ? inner : indentAt(text, last.startIndex));
  const open = text.indexOf('{', body.startIndex);
  if (last !== undefined && isAlone(text, last)) {
    const isPlaceholder = last.text === draft.edit.placeholder;
    const range = { start: isPlaceholder ? last.startIndex : last.endIndex, end: last.endIndex };
    const lead = isPlaceholder ? '' : newline + newline + indentAt(text, last.startIndex);
    return [[{ ...range, text: lead + block }]];
  }
  const below = `${newline}${inner}${newText(draft, given, inner)}`;
  if (open === -1 || open >= body.endIndex) {
    // A body on the line of its declaration: `class A: pass`.
    const from = body.startIndex - (/[ \t]*$/.exec(text.slice(0, body.startIndex))?.[0].length ?? 0);
    return [[{ start: from, end: body.endIndex, text: below }]];
  }
  const inside = text.slice(open + 1, body.endIndex - 1);
  if (!isBlank(inside))
    return [[{ start: body.endIndex - 1, end: body.endIndex - 1, text: `${newText(draft, given, inner)} ` }]];
  return [[{ start: open + 1, end: body.endIndex - 1, text: `${below}${newline}${outer}` }]];
}

function isAlone(text: string, { startIndex }: Node): boolean {
  return isBlank(text.slice(lineStart(text, startIndex), startIndex));
}

/** The new declaration is a member of the container, and there is one. */
function joined({ draft, node }: Target, after: readonly NodeFact[], before: number): ToolError | undefined {
  if (after.length > before) return undefined;
  return refuseEdit('declares_nothing', `New text declares no member: ${node.name}`, {
    path: draft.path,
    next: 'give a whole declaration',
  });
}

function noContainer({ draft, node }: Target): ToolError {
  return refuseEdit('no_container', `Declaration has no members: ${node.name}`, {
    path: draft.path,
    next: 'name a class, struct, enum, interface, impl or module',
    details: { type: node.type, line: node.line },
  });
}
