/** Finds what a name means at a place: from the innermost scope outwards, past what a language hides. */
import type { Binding, Scope } from './scope-model.ts';

export interface NameQuery {
  readonly name: string;
  readonly spaces: number;
  readonly scope: Scope;
  readonly at: number;
}

/** Pretends that a binding bears another name, to see what that would change. */
export interface Pretence {
  readonly binding: Binding;
  readonly name: string;
}

/** Scopes that do not hide the members of a class around them from their contents. */
const TRANSPARENT = new Set(['block', 'outer', 'conditional']);

export function lookUp(query: NameQuery, pretence?: Pretence): Binding | undefined {
  const { name } = query;
  let hidesClasses = false;
  let hidesLocals = false;
  let scope: Scope | undefined = query.scope;
  while (scope !== undefined) {
    const redirect = scope.redirects.get(name);
    if (redirect === 'global') return visibleIn(outermost(scope), query, pretence);
    if (redirect === undefined && !(hidesClasses && scope.kind === 'class')) {
      const found = visibleIn(scope, query, pretence);
      if (found !== undefined && !(hidesLocals && found.isLocal)) return found;
      // A class body that binds the name later on reads the global until then, never a variable of a function around.
      if (found === undefined && scope.kind === 'class' && scope.bindings.has(name)) {
        return visibleIn(outermost(scope), query, pretence);
      }
    }
    if (scope.barrier === 'all') return undefined;
    hidesLocals ||= scope.barrier === 'locals';
    hidesClasses ||= !TRANSPARENT.has(scope.kind);
    scope = scope.parent;
  }
  return undefined;
}

/** Of several in one scope the one bound last before the place. */
function visibleIn(scope: Scope, { name, spaces, at }: NameQuery, pretence?: Pretence): Binding | undefined {
  let best: Binding | undefined;
  for (const binding of candidates(scope, name, pretence)) {
    if ((binding.spaces & spaces) === 0 || at < binding.from || at >= binding.to) continue;
    if (best === undefined || binding.from > best.from) best = binding;
  }
  return best;
}

function candidates(scope: Scope, name: string, pretence: Pretence | undefined): readonly Binding[] {
  const bound = scope.bindings.get(name) ?? [];
  if (pretence === undefined || pretence.binding.scope !== scope) return bound;
  if (pretence.name === name) return [...bound, pretence.binding];
  return pretence.binding.name === name ? bound.filter((one) => one !== pretence.binding) : bound;
}

function outermost(scope: Scope): Scope {
  let outer = scope;
  while (outer.parent !== undefined) outer = outer.parent;
  return outer;
}
