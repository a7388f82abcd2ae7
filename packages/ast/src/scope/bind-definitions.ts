/** Enters every marked definition into the scope it belongs to. */
import { firstFrom } from '../symbols/extents.ts';
import type { ScopeDraft, ScopeTree, TokenDraft } from './build-scopes.ts';
import type { DefinitionMark, ScopeMarks } from './read-marks.ts';
import { type Binding, type NameToken, type Scope, SPACES, type TextRange } from './scope-model.ts';

interface BindingDraft extends Binding {
  spaces: number;
  isLocal: boolean;
  isMember: boolean;
  from: number;
  readonly definitions: NameToken[];
}

export function bindDefinitions(marks: ScopeMarks, tokens: readonly TokenDraft[], tree: ScopeTree): void {
  for (const { start, kind } of marks.redirects) {
    const token = tokens[firstFrom(tokens, start)];
    if (token?.start === start) hoist(token.scope, ['function', 'class', 'module']).redirects.set(token.name, kind);
  }
  const late: (() => void)[] = [];
  for (const mark of marks.definitions) {
    for (const token of definedBy(mark, tokens, marks)) {
      const scope = placeOf(mark, token.scope);
      const redirect = scope.redirects.get(token.name);
      if (redirect === 'nonlocal') late.push(() => bind(token, mark, enclosing(scope, token.name), tree));
      else bind(token, mark, redirect === 'global' ? (tree.scopes[0] as ScopeDraft) : scope, tree);
    }
  }
  for (const one of late) one();
}

/** Tokens that a mark makes definitions: the marked one, or every name in a pattern that is no expression. */
function definedBy(mark: DefinitionMark, tokens: readonly TokenDraft[], marks: ScopeMarks): readonly TokenDraft[] {
  const found: TokenDraft[] = [];
  for (let at = firstFrom(tokens, mark.start); at < tokens.length; at++) {
    const token = tokens[at] as TokenDraft;
    if (token.start >= mark.end) break;
    if (marks.memberDefinitions.has(token.start) || mark.unless?.test(token.name) === true) continue;
    if (mark.form !== 'each') found.push(token);
    else if (canBeBound(token) && !isExpression(token, mark, marks)) found.push(token);
  }
  return found;
}

/** Types in a pattern are not bound by it. */
function canBeBound({ role, spaces }: TokenDraft): boolean {
  return role === 'reference' && (spaces & SPACES.value) !== 0;
}

function isExpression(token: TokenDraft, mark: DefinitionMark, { expressions, ignored }: ScopeMarks): boolean {
  if (ignored.has(token.start)) return true;
  for (let at = firstFrom(expressions, mark.start); at < expressions.length; at++) {
    const part = expressions[at] as TextRange;
    if (part.start > token.start) return false;
    if (token.end <= part.end && part.end <= mark.end) return true;
  }
  return false;
}

function placeOf(mark: DefinitionMark, innermost: ScopeDraft): ScopeDraft {
  if (mark.into !== undefined) return hoist(innermost, mark.into);
  return mark.form === 'outer' ? ((innermost.parent as ScopeDraft | undefined) ?? innermost) : innermost;
}

function hoist(from: ScopeDraft, kinds: readonly string[]): ScopeDraft {
  let scope = from;
  while (!kinds.includes(scope.kind) && scope.parent !== undefined) scope = scope.parent as ScopeDraft;
  return scope;
}

/** Where `nonlocal` leads: the nearest function around that binds the name. */
function enclosing(from: ScopeDraft, name: string): ScopeDraft {
  let scope: Scope | undefined = from.parent;
  while (scope !== undefined) {
    if (scope.kind === 'function' && scope.bindings.has(name)) return scope as ScopeDraft;
    scope = scope.parent;
  }
  return from;
}

function bind(token: TokenDraft, mark: DefinitionMark, scope: ScopeDraft, tree: ScopeTree): void {
  const spaces = mark.spaces ?? token.spaces;
  const isPositional = mark.from !== undefined && (mark.fromIn?.includes(scope.kind) ?? true);
  const from = isPositional ? (mark.from ?? 0) : scope.start;
  const to = mark.to ?? scope.end;
  const same = (scope.bindings.get(token.name) ?? []) as BindingDraft[];
  const known = same.find((one) => {
    if (tree.isApart && (one.spaces & spaces) === 0) return false;
    return mark.canBeShadowed || one.canBeShadowed ? one.from === from && one.to === to : true;
  });
  if (known !== undefined) extend(known, token, { spaces, from, mark });
  else {
    const { isLocal, isMember, canBeShadowed } = mark;
    const made: BindingDraft = {
      name: token.name,
      scope,
      spaces,
      definitions: [token],
      isLocal,
      isMember,
      canBeShadowed,
      from,
      to,
    };
    scope.bindings.set(token.name, [...same, made]);
    adopt(token, made, spaces);
  }
}

interface Extension {
  readonly spaces: number;
  readonly from: number;
  readonly mark: DefinitionMark;
}

function extend(known: BindingDraft, token: TokenDraft, { spaces, from, mark }: Extension): void {
  known.spaces |= spaces;
  known.from = Math.min(known.from, from);
  known.isLocal &&= mark.isLocal;
  known.isMember ||= mark.isMember;
  if (!known.definitions.includes(token)) known.definitions.push(token);
  adopt(token, known, spaces);
}

function adopt(token: TokenDraft, binding: Binding, spaces: number): void {
  token.binding = binding;
  token.role = 'definition';
  token.spaces = spaces;
}
