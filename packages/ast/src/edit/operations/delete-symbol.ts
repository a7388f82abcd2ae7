/** Removes a declaration that is no longer used, or, when forced, one that is. */
import type { ToolError } from '@tool-runtime/protocol';
import { commitFirst, keepsDeclarations } from '../commit-edits.ts';
import type { Target } from '../edit-desk.ts';
import { refuseEdit } from '../edit-failures.ts';
import { findMentions, findUses, type Use } from '../find-uses.ts';
import { removeDeclaration } from '../remove-declaration.ts';
import { bodyNode, nodeOf } from '../syntax-node.ts';
import { type Planner, requireEditable } from '../work.ts';

const MAX_SHOWN = 20;

export const deleteSymbol: Planner<'delete_symbol'> = async (operation, work) => {
  const target = await work.desk.target(operation);
  const { draft, node } = target;
  requireEditable(draft, operation);
  const { uses: found, confidence } = await findUses(target, work);
  const mentioned = await findMentions(target, work);
  const uses = [...found, ...mentioned.filter(({ isUse }) => isUse)];
  if (uses.length > 0) {
    if (!operation.force) throw stillUsed(target, uses);
    work.warn(`deleted although ${uses.length} places may use it, the first: ${uses[0]?.file}:${uses[0]?.line}`);
  }
  const [mention, ...mentions] = mentioned.filter(({ isUse }) => !isUse);
  if (mention !== undefined) {
    const count = mentions.length + 1;
    work.warn(`the name is also in ${count} strings, which may mean it, the first: ${mention.file}:${mention.line}`);
  }
  if (isCountedOn(target)) {
    if (!operation.force) throw countedOn(target);
    work.warn(`what follows gets another value: ${node.name} in ${draft.path}`);
  }
  const check = keepsDeclarations(draft, node.fullSpan);
  commitFirst(draft, removeDeclaration(draft, node), { warn: work.warn, check });
  return { confidence };
};

/** The next one has no value of its own: it counts on from this one. */
function isCountedOn({ draft, node, at }: Target): boolean {
  if (!draft.edit.counts_on || (node.type !== 'const' && node.type !== 'variant')) return false;
  const next = draft.facts.nodes.slice(at + 1).find(({ parent, type }) => parent === node.parent && type === node.type);
  if (next === undefined || next.span.start < node.span.end) return false;
  const [own, other] = [node, next].map(({ span }) => {
    const { start, end } = draft.units(span);
    return nodeOf(draft, start, end);
  });
  const list = own?.parent;
  const container = draft.facts.nodes[node.parent];
  const isBody = container !== undefined && bodyNode(draft, container)?.id === list?.id;
  const isList = list != null && list.id === other?.parent?.id && list.parent !== null;
  return isList && (node.type === 'variant' || !isBody) && other?.text.includes('=') === false;
}

function countedOn({ draft, node }: Target): ToolError {
  return refuseEdit('list_declaration', `What follows would get another value: ${node.name}`, {
    path: draft.path,
    next: 'give the next one a value first, or pass force',
    details: { line: node.line },
  });
}

function stillUsed({ draft, node }: Target, uses: readonly Use[]): ToolError {
  const isCertain = uses.some((use) => use.isCertain);
  const problem = isCertain ? 'Declaration is still used' : 'Declaration may still be used';
  return refuseEdit(isCertain ? 'still_used' : 'maybe_used', `${problem}: ${node.name}`, {
    path: draft.path,
    next: 'remove the uses first, or pass force',
    details: { count: uses.length, uses: uses.slice(0, MAX_SHOWN).map(({ file, line }) => `${file}:${line}`) },
  });
}
