/** Decides about one token that has the old name: edit it, leave it, or report that its meaning is unknown. */
import type { Meaning, ModuleFamily, ModuleSystem } from '../module-system.ts';
import type { NameToken } from '../scope-model.ts';
import type { ProjectFile } from '../scope-project.ts';
import type { EditRole, ResidualKind } from './rename-plan.ts';
import { type RenameSubject, reaches } from './rename-subject.ts';
import { roleOf } from './token-role.ts';

export type Verdict =
  | (Renamed & { readonly meaning: Meaning | undefined })
  | { readonly residual: ResidualKind }
  | 'other';

interface Renamed {
  readonly text: string;
  readonly role: EditRole;
  readonly isBindingRenamed: boolean;
  /** Where the text to be replaced starts, when that is before the token. */
  readonly start?: number;
}

export interface Judge {
  readonly subject: RenameSubject;
  readonly family: ModuleFamily;
  readonly system: ModuleSystem;
  readonly newName: string;
}

export function judgeToken(file: ProjectFile, token: NameToken, judge: Judge): Verdict {
  const { subject, system, newName } = judge;
  const meaning = system.meaningOf(file, token);
  if (reaches(meaning, subject)) return { ...renamed(file, token, judge), meaning };
  const otherSide = system.otherSideOf(file, token);
  if (reaches(otherSide, subject)) {
    const text = token.shorthand === undefined ? `${newName} as ${token.name}` : `${newName}: ${token.name}`;
    return {
      text,
      role: token.shorthand === undefined ? 'import' : 'shorthand',
      isBindingRenamed: false,
      meaning: otherSide,
    };
  }
  const isImported = meaning?.steps.length === 0 || system.specifierOf(file, token) !== undefined;
  if (meaning?.isUncertain === true && isImported) return { residual: 'code' };
  return meaning === undefined ? unknown(file, token, judge) : 'other';
}

function renamed(file: ProjectFile, token: NameToken, { subject, system, newName }: Judge): Renamed {
  const { name } = token;
  const specifier = system.specifierOf(file, token);
  const isOwn = token.binding !== undefined && subject.bindings.has(token.binding);
  if (specifier?.kind === 'export') {
    const text = specifier.isAliased ? newName : `${newName} as ${name}`;
    return { text, role: 'export', isBindingRenamed: true };
  }
  if (specifier?.kind === 'import') {
    const text = isOwn && !specifier.isAliased ? `${name} as ${newName}` : newName;
    return { text, role: 'import', isBindingRenamed: true };
  }
  if (token.shorthand !== undefined) {
    const words = bindingWords(file, token);
    return {
      text: `${name}: ${words}${newName}`,
      role: 'shorthand',
      isBindingRenamed: true,
      start: token.start - words.length,
    };
  }
  return { text: newName, role: roleOf(token, undefined), isBindingRenamed: true };
}

/** Rust's `{ ref mut x }`: the words belong to the variable, not to the field. */
function bindingWords({ scopes }: ProjectFile, { shorthand, start }: NameToken): string {
  const before = shorthand === 'pattern' ? scopes.source.text.slice(Math.max(0, start - 16), start) : '';
  return /(?<=[{,\s])(?:(?:ref|mut)\s+)+$/.exec(before)?.[0] ?? '';
}

/** A name that could not be resolved. What it cannot be by the rules of the language is left out. */
function unknown(file: ProjectFile, token: NameToken, { subject, family, system }: Judge): Verdict {
  const { binding, reach } = subject;
  if (reach.kind === 'calls' && system.isKeyword(file, token)) return { residual: 'member' };
  const isInReach = subject.isShared || (file === subject.file && isWithin(token, binding.scope));
  if (!isInReach) return 'other';
  switch (token.role) {
    case 'opaque':
      return token.isAccess && !family.hasModuleValues ? 'other' : { residual: 'opaque' };
    case 'member':
      return token.isAccess && subject.isShared && family.hasModuleValues ? { residual: 'member' } : 'other';
    case 'reference':
      return subject.isGlobal ? { residual: 'code' } : 'other';
    default:
      return 'other';
  }
}

function isWithin({ start, end }: NameToken, scope: { readonly start: number; readonly end: number }): boolean {
  return scope.start <= start && end <= scope.end;
}
