/**
 * What the new name would meet. Every lookup is done again as if the renamed bindings bore it already: uses of them must
 * still lead to them, and nothing else may.
 */
import { lookUp, type NameQuery } from '../look-up.ts';
import type { ModuleFamily, ModuleSystem } from '../module-system.ts';
import type { Binding, NameToken } from '../scope-model.ts';
import type { ProjectFile, ScopeProject } from '../scope-project.ts';
import type { RenameConflict } from './rename-plan.ts';
import { placeOf } from './rename-plan.ts';
import { type RenameSubject, reaches } from './rename-subject.ts';

/** A file with edits, and the tokens among them whose own binding gets the new name. */
export interface EditedFile {
  readonly file: ProjectFile;
  readonly renamed: readonly NameToken[];
}

export interface ConflictQuery {
  readonly edited: readonly EditedFile[];
  readonly subject: RenameSubject;
  readonly family: ModuleFamily;
  readonly system: ModuleSystem;
  readonly project: ScopeProject;
  /** As it is looked up, without what a language writes before it. */
  readonly newName: string;
}

export function findConflicts(query: ConflictQuery): RenameConflict[] {
  const { edited, subject, project, newName } = query;
  const found = edited.flatMap((one) => inFile(one, query));
  const others = subject.isShared ? project.mentioning(newName) : [subject.file.path];
  for (const path of others) {
    const file = project.file(path);
    if (file !== undefined) found.push(...newcomers(file, query));
  }
  return unique(found);
}

function inFile({ file, renamed }: EditedFile, query: ConflictQuery): RenameConflict[] {
  const bindings = new Set(renamed.map(({ binding }) => binding).filter((binding) => binding !== undefined));
  return [
    ...[...bindings].flatMap((binding) => aroundBinding(file, binding, query)),
    ...renamed.flatMap((token) => captureOf(file, token, query) ?? []),
  ];
}

/** What is in the place the binding would take, and uses that it would take from something else. */
function aroundBinding(file: ProjectFile, binding: Binding, query: ConflictQuery): RenameConflict[] {
  const { newName } = query;
  const taken = collisionOf(file, binding, newName);
  const found = taken === undefined ? [] : [conflict(file, taken.definitions[0], 'collision', describe(file, taken))];
  found.push(...starCollision(file, binding, query));
  for (const token of file.scopes.tokensNamed(newName)) {
    if (token.role === 'definition' || token.binding === binding || !isLexical(token)) continue;
    const meant = lookUp(queryOf(token, newName), { binding, name: newName });
    if (meant === binding) found.push(conflict(file, token, 'shadow', describe(file, binding)));
  }
  return found;
}

/** A star brings the new name into the scope already, and the two would become one. */
function starCollision(
  file: ProjectFile,
  binding: Binding,
  { family, system, newName }: ConflictQuery,
): RenameConflict[] {
  const [first] = binding.definitions;
  if (!family.mergesStars || first === undefined || binding.scope !== file.scopes.scopes[0]) return [];
  const probe: NameToken = { ...first, scope: binding.scope, role: 'reference', binding: undefined, name: newName };
  const [step] = system.meaningOf(file, { ...probe, start: -1 })?.steps ?? [];
  if (step === undefined) return [];
  return [conflict(file, first, 'collision', `${newName} (${step.path})`)];
}

/** A use that would mean something else under the new name: in its scope, or in the module it is read from. */
function captureOf(file: ProjectFile, token: NameToken, query: ConflictQuery): RenameConflict | undefined {
  const { system, subject, newName } = query;
  if (token.role !== 'definition' && isLexical(token)) {
    const pretence = token.binding && { binding: token.binding, name: newName };
    const meant = lookUp(queryOf(token, newName), pretence);
    if (meant !== undefined && meant !== token.binding) {
      return conflict(file, token, 'capture', describe(file, meant));
    }
  }
  if (token.binding !== undefined && system.specifierOf(file, token)?.kind !== 'import') return undefined;
  const [found] = system.meaningOf(file, { ...token, name: newName, binding: undefined })?.steps ?? [];
  if (found === undefined || subject.bindings.has(found.binding)) return undefined;
  return conflict(file, token, 'capture', `${found.binding.name} (${found.path})`);
}

/** Something of the new name that is declared in the same scope and could be meant in the same place. */
function collisionOf(file: ProjectFile, binding: Binding, newName: string): Binding | undefined {
  return binding.scope.bindings.get(newName)?.find((one) => {
    if (one.canBeShadowed || binding.canBeShadowed) return false;
    return !file.scopes.isApart || (one.spaces & binding.spaces) !== 0;
  });
}

/**
 * Names read from a module, or from nowhere in the file, that the renamed one would now answer to; and declarations of
 * the new name in another file of the same scope, as the files of a Go package are.
 */
function newcomers(file: ProjectFile, { subject, family, system, newName }: ConflictQuery): RenameConflict[] {
  const found: RenameConflict[] = [];
  for (const token of file.scopes.tokensNamed(newName)) {
    const isImport = system.specifierOf(file, token)?.kind === 'import';
    const isTop = !isImport && token.role === 'definition' && token.binding?.scope === file.scopes.scopes[0];
    if (!isImport && isLexical(token)) {
      if (token.binding !== undefined && !isTop) continue;
      if (lookUp(queryOf(token, subject.name)) !== undefined) continue;
    }
    const role = isTop ? 'reference' : token.role;
    const meaning = system.meaningOf(file, { ...token, role, binding: undefined, name: subject.name });
    if (!reaches(meaning, subject)) continue;
    if (!isTop) found.push(conflict(file, token, 'shadow', describe(subject.file, subject.binding)));
    else if (family.mergesStars || meaning?.steps.some(({ isStarred }) => isStarred) === false) {
      found.push(conflict(file, token, 'collision', describe(subject.file, subject.binding)));
    }
  }
  return found;
}

function isLexical({ role, isAccess, object }: NameToken): boolean {
  return role === 'reference' || role === 'definition' || (role === 'opaque' && !isAccess && object === undefined);
}

function queryOf({ spaces, scope, start }: NameToken, name: string): NameQuery {
  return { name, spaces, scope, at: start };
}

function describe(file: ProjectFile, { name, definitions }: Binding): string {
  const [first] = definitions;
  const { line } = placeOf(file.scopes.source, first?.start ?? 0);
  return `${name} (${file.path}:${line})`;
}

function conflict(
  file: ProjectFile,
  token: NameToken | undefined,
  kind: RenameConflict['kind'],
  other: string,
): RenameConflict {
  return { path: file.path, ...placeOf(file.scopes.source, token?.start ?? 0), kind, with: other };
}

function unique(conflicts: readonly RenameConflict[]): RenameConflict[] {
  const seen = new Map<string, RenameConflict>();
  for (const one of conflicts) seen.set(`${one.path}:${one.line}:${one.col}:${one.kind}`, one);
  return [...seen.values()].sort(
    (left, right) => compareText(left.path, right.path) || left.line - right.line || left.col - right.col,
  );
}

function compareText(left: string, right: string): number {
  return left < right ? -1 : Number(left > right);
}
