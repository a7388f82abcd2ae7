/** What is to be renamed: the binding at the given place, with everything that shares its name by necessity. */
import type { LanguageProfile } from '../../profile/profile.ts';
import type { Meaning, ModuleFamily, ModuleSystem, Reach, Step } from '../module-system.ts';
import type { Binding, NameToken } from '../scope-model.ts';
import type { ProjectFile, ScopeProject } from '../scope-project.ts';
import type { Refusal, RenameTarget } from './rename-plan.ts';

export interface RenameSubject {
  readonly name: string;
  readonly file: ProjectFile;
  readonly binding: Binding;
  readonly bindings: ReadonlySet<Binding>;
  readonly reach: Reach;
  /** Other files can mean it by its name. */
  readonly isShared: boolean;
  /** Other files can mean it without importing it. */
  readonly isGlobal: boolean;
}

export type SubjectAnswer = { readonly subject: RenameSubject } | { readonly refused: Refusal };

export interface SubjectQuery {
  readonly target: RenameTarget;
  readonly file: ProjectFile;
  readonly family: ModuleFamily;
  readonly system: ModuleSystem;
  readonly project: ScopeProject;
}

export function findSubject({ target, file, family, system, project }: SubjectQuery): SubjectAnswer {
  const { source } = file.scopes;
  const token = file.scopes.tokenAt(source.toOffset(target.nameStart));
  if (token === undefined || token.name !== target.name) {
    return refuse('stale_target', `No name ${target.name} at this place: ${target.path}`);
  }
  const step = declarationOf(system.meaningOf(file, token), token, family);
  const home = step && project.file(step.path);
  if (step === undefined || home === undefined) {
    return refuse('needs_server', `Only a language server knows what this name means: ${target.name}`);
  }
  const why = system.refusalOf(home, step.binding);
  if (why !== undefined)
    return refuse('needs_server', `Only a language server can rename this, it ${why}: ${target.name}`);
  const twins = system.twinsOf(home, step.binding);
  const reach = system.reachOf(home, step.binding);
  return {
    subject: {
      name: target.name,
      file: home,
      binding: step.binding,
      bindings: new Set(twins.map(({ binding }) => binding)),
      reach,
      isShared: reach.kind === 'project',
      isGlobal: system.isGlobal(home, step.binding),
    },
  };
}

/** The token's own binding; where imports are followed, the last one that bears the same name. */
function declarationOf(meaning: Meaning | undefined, token: NameToken, family: ModuleFamily): Step | undefined {
  const steps = meaning?.steps ?? [];
  if (token.binding !== undefined && !family.followsImports) return steps[0];
  let found: Step | undefined;
  for (const step of steps) {
    if (step.isStopped || step.binding.name !== token.name) break;
    found = step;
  }
  return found;
}

/** Whether a token that means this is renamed with the subject: every step up to it keeps the name. */
export function reaches(meaning: Meaning | undefined, { bindings, name }: RenameSubject): boolean {
  for (const step of meaning?.steps ?? []) {
    if (step.isStopped) return false;
    if (bindings.has(step.binding)) return true;
    if (step.binding.name !== name) return false;
  }
  return false;
}

/** Whether a token needs the subject at all, under any name it was passed on as. */
export function meansSubject(meaning: Meaning | undefined, { bindings }: RenameSubject): boolean {
  return meaning?.steps.some(({ binding }) => bindings.has(binding)) ?? false;
}

function refuse(reason: Refusal['reason'], message: string): { readonly refused: Refusal } {
  return { refused: { reason, message } };
}

/** Whether a name may be given at all, by the language's profile. */
export function checkName(profile: LanguageProfile, oldName: string, newName: string): Refusal | undefined {
  const { regex, keywords } = profile.identifier;
  if (newName === oldName) return invalidName(`New name equals the old one: ${newName}`);
  // A private member's name; no variable can have it.
  const isName = new RegExp(regex, 'u').test(newName) && !newName.startsWith('#');
  if (!isName) return invalidName(`Not a name in ${profile.label}: ${newName.slice(0, 80)}`);
  return keywords.includes(newName) ? invalidName(`Keyword of ${profile.label}: ${newName}`) : undefined;
}

function invalidName(message: string): Refusal {
  return { reason: 'invalid_name', message };
}
