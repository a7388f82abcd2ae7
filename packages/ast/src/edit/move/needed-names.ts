/** What code that moves away takes for granted: imports and other declarations of its file. */
import type { TreeCursor } from 'web-tree-sitter';
import type { ImportFact, NodeFact } from '../../contracts/facts.ts';
import { resolveScopes } from '../../scope/resolve-scopes.ts';
import type { Draft } from '../draft.ts';

export interface NeededNames {
  readonly imports: readonly ImportFact[];
  /** Of `imports`, those that nothing else in the file uses. */
  readonly onlyHere: readonly ImportFact[];
  readonly declarations: readonly NodeFact[];
}

export function neededNames(draft: Draft, node: NodeFact): NeededNames {
  const range = draft.units(node.fullSpan);
  const words = usedByWord(draft, range);
  const scoped = draft.parser.queries.locals === undefined ? undefined : usedByScope(draft, range);
  // Some languages bind imports by package, not by name: then the word decides.
  const isIn = (side: keyof UsedNames, name: string) =>
    scoped === undefined || !scoped.bound.has(name) ? words[side].has(name) : scoped[side].has(name);
  const imports = draft.facts.imports.filter((fact) => fact.reexport !== true);
  const needed = imports.filter((fact) => isStar(fact) || isIn('inside', localName(fact)));
  const declarations = draft.facts.nodes.filter(
    (one) => one.parent === -1 && one.name !== node.name && isIn('inside', one.name),
  );
  return {
    imports: needed,
    onlyHere: needed.filter((fact) => !isStar(fact) && !isIn('outside', localName(fact))),
    declarations,
  };
}

/** All names of a module, under no name of their own. */
function isStar({ star, alias }: ImportFact): boolean {
  return star === true && alias === undefined;
}

/** What the file calls it; of a path the last part, of a dotted module the first. */
export function localName({ alias, name, source }: ImportFact): string {
  if (alias !== undefined) return alias;
  if (name !== undefined) return name;
  return source.includes('/') ? (source.split('/').at(-1) ?? source) : (source.split(/[.:\\]/)[0] ?? source);
}

interface UsedNames {
  readonly inside: ReadonlySet<string>;
  readonly outside: ReadonlySet<string>;
}

interface ScopedNames extends UsedNames {
  /** Names the file's own scope knows. */
  readonly bound: ReadonlySet<string>;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Names of the file's own scope; a name that is bound further in stays where it is bound. */
function usedByScope(draft: Draft, range: Range): ScopedNames {
  const [inside, outside] = [new Set<string>(), new Set<string>()];
  const scopes = resolveScopes(draft.parsed);
  for (const { name, role, binding, start, end, isString } of scopes.tokens) {
    if (binding === undefined || binding.scope.index !== 0 || isString) continue;
    const isWithin = range.start <= start && end <= range.end;
    if (role === 'definition' && !isWithin) continue;
    if (isWithin && binding.definitions.some((one) => range.start <= one.start && one.end <= range.end)) continue;
    (isWithin ? inside : outside).add(name);
  }
  return { inside, outside, bound: new Set(scopes.scopes[0]?.bindings.keys()) };
}

/** Every word of the code counts, regardless of its meaning; imports themselves do not. */
function usedByWord({ parsed, profile, facts }: Draft, range: Range): UsedNames {
  const [inside, outside] = [new Set<string>(), new Set<string>()];
  const { comment, string } = profile.kinds;
  const lines = new Set(facts.imports.map(({ line }) => line));
  const cursor = parsed.tree.walk();
  try {
    for (let isThere = true; isThere; isThere = next(cursor)) {
      const { nodeType, startIndex, endIndex, startPosition } = cursor;
      const isLeaf = cursor.nodeIsNamed && cursor.currentNode.childCount === 0;
      if (!isLeaf || comment.includes(nodeType) || string.includes(nodeType) || lines.has(startPosition.row + 1))
        continue;
      const isWithin = range.start <= startIndex && endIndex <= range.end;
      (isWithin ? inside : outside).add(cursor.nodeText);
    }
  } finally {
    cursor.delete();
  }
  return { inside, outside };
}

/** In file order. False at the end. */
function next(cursor: TreeCursor): boolean {
  if (cursor.gotoFirstChild()) return true;
  do if (cursor.gotoNextSibling()) return true;
  while (cursor.gotoParent());
  return false;
}
