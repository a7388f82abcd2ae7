/**
 * Declarations in file order, each with its place: enclosing declaration, wrappers around it, its section.
 *
 * One pass over sorted lists with stacks; looking up wrappers per declaration was quadratic and took minutes on a
 * file with 100,000 of them. Variables inside functions take part, so that what is in them finds its place, and are
 * then left out; so is what is nested deeper than people write, because text and path of each level hold the next.
 */
import { dottedPath, type NodeType } from '../contracts/facts.ts';
import { createOpenExtents } from './extents.ts';
import type { Policies } from './policies.ts';
import type { Extent, RawDeclaration, RawFacts, RawText, RawWrapper } from './raw-facts.ts';

export interface NestedDeclaration extends Omit<RawDeclaration, 'type' | 'container'> {
  readonly type: NodeType;
  /** Place of the enclosing declaration in the same list; -1 at the top. */
  readonly parent: number;
  /** Path of the container, by dots. */
  readonly container: string;
  /** What is between it and its parent, innermost first. */
  readonly wrappers: readonly RawWrapper[];
  readonly section: string | undefined;
}

interface Draft extends Omit<NestedDeclaration, 'parent'> {
  parent: number;
  readonly isLocal: boolean;
  readonly depth: number;
}

const MAX_DEPTH = 64;
const MEMBER_HOLDERS: ReadonlySet<NodeType> = new Set(['class', 'impl', 'interface', 'struct', 'enum']);
const FUNCTIONS: ReadonlySet<NodeType> = new Set(['fn', 'method', 'test']);
const VARIABLES: ReadonlySet<NodeType> = new Set(['const', 'var']);

export function nestDeclarations(raw: RawFacts, policies: Policies): NestedDeclaration[] {
  const drafts: Draft[] = [];
  const open: number[] = [];
  const wrappers = createOpenExtents(raw.wrappers);
  const locals = createOpenExtents(raw.locals);
  const lifts = createOpenExtents(raw.lifts);
  const sections = createSections(raw.sections, policies);
  const closeBefore = (extent: Extent): void => {
    while (open.length > 0 && !encloses(drafts[open.at(-1) ?? 0], extent)) open.pop();
  };
  for (const declaration of inFileOrder(raw.declarations)) {
    for (let one = sections.next(declaration.start); one !== undefined; one = sections.next(declaration.start)) {
      closeBefore(one);
      sections.enter(open.at(-1) ?? -1, one.text);
    }
    closeBefore(declaration);
    const holder = open.at(-1) ?? -1;
    const after = drafts[holder]?.start ?? -1;
    const isLifted = lifts.around(declaration, after).length > 0;
    const parent = isLifted ? (drafts[holder]?.parent ?? -1) : holder;
    const around = drafts[parent];
    const own = wrappers.around(declaration, after);
    for (const wrapper of own) if (wrapper.holds++ === 0) wrapper.headEnd = declaration.start;
    const type = finalType(declaration, around, own, policies);
    const isInFunction =
      (around !== undefined && FUNCTIONS.has(around.type)) || locals.around(declaration, after).length > 0;
    const depth = (around?.depth ?? -1) + 1;
    // Field by field: a spread of so many takes several times as long.
    drafts.push({
      start: declaration.start,
      end: declaration.end,
      pattern: declaration.pattern,
      type,
      subtype: declaration.type === 'trait' ? 'trait' : declaration.subtype,
      name: declaration.name,
      nameSpan: declaration.nameSpan,
      body: declaration.body,
      headEnd: declaration.headEnd,
      visibility: declaration.visibility,
      isSingle: declaration.isSingle,
      isOutsideOnly: declaration.isOutsideOnly,
      isForRest: declaration.isForRest,
      parent,
      container: containerPath(around, declaration.container),
      wrappers: own,
      section: sections.of(parent, around?.type),
      depth,
      isLocal:
        depth > MAX_DEPTH ||
        (isInFunction && isLocalInFunction(declaration, type)) ||
        (type === 'field' && declaration.container === undefined && isFieldOfNothing(around)),
    });
    open.push(drafts.length - 1);
  }
  return leaveOutLocals(drafts);
}

/** By start, outer before inner; of two declarations with the same name node the earlier pattern's. */
function inFileOrder(declarations: readonly RawDeclaration[]): RawDeclaration[] {
  const byName = new Map<number | string, RawDeclaration>();
  for (const declaration of declarations) {
    const { nameSpan, start, end, isSingle } = declaration;
    const key = isSingle ? `${start}-${end}` : nameSpan.start;
    const known = byName.get(key);
    if (known === undefined || declaration.pattern < known.pattern) byName.set(key, declaration);
  }
  return [...byName.values()].sort(
    (left, right) => left.start - right.start || right.end - left.end || left.nameSpan.start - right.nameSpan.start,
  );
}

/** Equal extents are siblings: `var a, b int` is one node with two names. */
function encloses(outer: Extent | undefined, { start, end }: Extent): boolean {
  return outer !== undefined && outer.end >= end && !(outer.start === start && outer.end === end);
}

function containerPath(around: Draft | undefined, explicit: string | undefined): string {
  const outer = around === undefined ? '' : around.isLocal ? around.container : join(around.container, dotted(around));
  return explicit === undefined ? outer : join(outer, dottedPath(explicit));
}

/** `namespace a::b` holds what `namespace a { namespace b` does. */
function dotted({ type, name }: Draft): string {
  return type === 'module' ? dottedPath(name) : name;
}

function join(left: string, right: string): string {
  return left === '' ? right : `${left}.${right}`;
}

function finalType(
  declaration: RawDeclaration,
  around: Draft | undefined,
  own: readonly RawWrapper[],
  policies: Policies,
): NodeType {
  const { type, name } = declaration;
  const isMember = declaration.container !== undefined || (around !== undefined && MEMBER_HOLDERS.has(around.type));
  switch (type) {
    case 'trait':
      return 'interface';
    case 'fn':
      return isMember ? 'method' : 'fn';
    case 'var':
      if (policies.constants.test(name)) return 'const';
      return isMember ? 'field' : ((own.find((wrapper) => wrapper.type !== undefined)?.type ?? type) as NodeType);
    default:
      return type as NodeType;
  }
}

function isLocalInFunction(declaration: RawDeclaration, type: NodeType): boolean {
  return VARIABLES.has(type) || declaration.type === 'var' || declaration.isOutsideOnly;
}

/** Fields of types written in place, such as those of a parameter. */
function isFieldOfNothing(around: Draft | undefined): boolean {
  return around === undefined || around.isLocal || FUNCTIONS.has(around.type) || VARIABLES.has(around.type);
}

function leaveOutLocals(drafts: readonly Draft[]): NestedDeclaration[] {
  const kept: NestedDeclaration[] = [];
  /** Old place → new place; a local is replaced by what is around it. */
  const places = new Int32Array(drafts.length);
  for (const [index, draft] of drafts.entries()) {
    draft.parent = draft.parent === -1 ? -1 : (places[draft.parent] ?? -1);
    places[index] = draft.isLocal ? draft.parent : kept.push(draft) - 1;
  }
  return kept;
}

/** Ruby's `private` and C++'s `private:` hold for what follows in the same container. */
function createSections(raw: readonly RawText[], policies: Policies) {
  const sorted = raw.toSorted((left, right) => left.start - right.start);
  const current = new Map<number, string>();
  let at = 0;
  return {
    next(before: number): RawText | undefined {
      const one = sorted[at];
      if (one === undefined || one.start >= before) return undefined;
      at++;
      return one;
    },
    enter(container: number, text: string): void {
      current.set(container, text);
    },
    of(container: number, type: NodeType | undefined): string | undefined {
      return current.get(container) ?? (type === undefined ? undefined : policies.exported.initialSection[type]);
    },
  };
}
