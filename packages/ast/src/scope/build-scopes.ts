/** Nests the marked scopes. Where two marks cover the same text the one that is no plain block stays. */
import type { ScopeMark } from './read-marks.ts';
import type { Binding, NameToken, Scope, TextRange } from './scope-model.ts';

export interface ScopeDraft extends Scope {
  /** The scope whose text contains it; `parent` may be further out. */
  readonly holder: ScopeDraft | undefined;
  readonly bindings: Map<string, Binding[]>;
  readonly redirects: Map<string, 'global' | 'nonlocal'>;
}

export interface ScopeTree {
  /** In file order; the first is the whole file. */
  readonly scopes: readonly ScopeDraft[];
  readonly isApart: boolean;
  /** Innermost scope around an offset. */
  at(offset: number): ScopeDraft;
  /** Innermost scope that starts before a range. */
  around(range: TextRange): ScopeDraft;
}

export function buildScopes(marks: readonly ScopeMark[], length: number): ScopeTree {
  const sorted = marks.toSorted(
    (left, right) => left.start - right.start || right.end - left.end || weight(left) - weight(right),
  );
  const [first] = sorted;
  const root: ScopeMark = {
    kind: 'module',
    barrier: undefined,
    isApart: first?.isApart ?? false,
    start: 0,
    end: length,
  };
  const scopes: ScopeDraft[] = [draft(root, 0, {})];
  const open: ScopeDraft[] = [...scopes];
  for (const mark of sorted.slice(first?.kind === 'module' ? 1 : 0)) {
    while (!contains(open.at(-1), mark)) open.pop();
    const around = open.at(-1);
    if (around === undefined || isPartOf(mark, around)) continue;
    const parent = mark.kind === 'outer' ? (around.parent ?? around) : around;
    const scope = draft(mark, scopes.length, { parent, holder: around });
    scopes.push(scope);
    open.push(scope);
  }
  return {
    scopes,
    isApart: root.isApart,
    at: (offset) => innermost(scopes, offset),
    around({ start }) {
      let scope = innermost(scopes, start);
      while (scope.holder !== undefined && scope.start >= start) scope = scope.holder;
      return scope;
    },
  };
}

/** A function's body is the same scope as its parameters; a block that was marked twice is one scope. */
function isPartOf(mark: ScopeMark, around: Scope): boolean {
  if (mark.kind !== 'block') return false;
  if (mark.start === around.start && mark.end === around.end) return around.kind !== 'module';
  return around.kind === 'function' && mark.end === around.end;
}

interface Surroundings {
  readonly parent?: Scope;
  readonly holder?: ScopeDraft;
}

function draft(mark: ScopeMark, index: number, { parent, holder }: Surroundings): ScopeDraft {
  const { start, end, kind, barrier } = mark;
  return { index, kind, start, end, parent, holder, barrier, bindings: new Map(), redirects: new Map() };
}

function weight({ kind }: ScopeMark): number {
  return kind === 'block' ? 1 : 0;
}

function contains(outer: TextRange | undefined, inner: TextRange): boolean {
  return outer === undefined || (outer.start <= inner.start && inner.end <= outer.end);
}

/** From the last scope that starts at or before the offset outwards to the first that holds it. */
function innermost(scopes: readonly ScopeDraft[], offset: number): ScopeDraft {
  let low = 0;
  let high = scopes.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((scopes[middle]?.start ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  let scope = scopes[low] as ScopeDraft;
  while (scope.holder !== undefined && offset >= scope.end) scope = scope.holder;
  return scope;
}

export type TokenDraft = { -readonly [Key in keyof Omit<NameToken, 'scope'>]: NameToken[Key] } & {
  readonly scope: ScopeDraft;
};

/**
 * Name tokens while they are being resolved, and which of them is the whole of an expression.
 *
 * The token, when it or a chain of members that ends with it fills the range; `a + b` is not its last name.
 */
export function standsFor<T extends NameToken>(last: T | undefined, { start, end }: TextRange): T | undefined {
  if (last?.end !== end || start < 0) return start < 0 ? last : undefined;
  for (let link: NameToken | undefined = last; link !== undefined; link = link.object) {
    if (link.start === start) return last;
  }
  return undefined;
}
