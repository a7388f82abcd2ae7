/**
 * Plans the rename of a lexical name over a whole workspace, without types: by scope, imports and exports.
 *
 * Refuses rather than guesses: a file that does not parse may hide uses, members belong to a language server. Edits
 * nothing; the caller decides about what is left over.
 */
import type { Meaning, ModuleFamily, ModuleSystem, TokenUse } from '../module-system.ts';
import { openFamily } from '../open-family.ts';
import type { FileScopes, NameToken, TextPart } from '../scope-model.ts';
import type { ProjectFile, ScopeProject } from '../scope-project.ts';
import { findCandidates, firstBroken } from './find-candidates.ts';
import { type EditedFile, findConflicts } from './find-conflicts.ts';
import {
  type EditRole,
  placeOf,
  type Refusal,
  type RenameEdit,
  type RenamePlan,
  type RenameRequest,
  type Residual,
  type ResidualKind,
  roleOf,
} from './rename-plan.ts';
import { checkName, findSubject, meansSubject, type RenameSubject, reaches } from './rename-subject.ts';

export async function planRename(request: RenameRequest): Promise<RenamePlan> {
  const { engine, target, newName } = request;
  const opened = await openFamily({ ...request, path: target.path });
  if ('refused' in opened) return refused(opened.refused);
  const { profile } = await engine.parserFor(opened.language);
  const badName = checkName(profile, target.name, newName);
  if (badName !== undefined) return refused(badName);
  const answer = findSubject({ ...opened, target });
  if ('refused' in answer) return refused(answer.refused);
  const { subject } = answer;
  if (subject.file.isGenerated && request.allowGenerated !== true) {
    return refused({ reason: 'generated', message: `File is generated or vendored: ${subject.file.path}` });
  }
  return planSubject(request, { ...opened, subject });
}

interface Planning {
  readonly project: ScopeProject;
  readonly family: ModuleFamily;
  readonly system: ModuleSystem;
  readonly subject: RenameSubject;
}

function planSubject(request: RenameRequest, { project, family, system, subject }: Planning): RenamePlan {
  const { newName } = request;
  const candidateFiles = findCandidates(project, subject);
  const broken = firstBroken(project, candidateFiles);
  if (broken !== undefined) return { ...refused(broken), candidateFiles };
  const judge: Judge = { subject, family, system, newName };
  const pages = candidateFiles.map((path) => planFile(project.file(path), judge, request.allowGenerated ?? false));
  // Files that only pass a name on, `export *`, do not contain it; they too must have been understood.
  const brokenOnTheWay = firstBroken(project, [...project.read.keys()]);
  if (brokenOnTheWay !== undefined) return { ...refused(brokenOnTheWay), candidateFiles };
  const edits = pages.flatMap((page) => page.edits);
  if (edits.length === 0) {
    return { ...refused({ reason: 'nothing_to_edit', message: `Nothing to rename: ${subject.name}` }), candidateFiles };
  }
  const hidden = system.refusalOfName({
    file: subject.file,
    binding: subject.binding,
    newName,
    uses: pages.flatMap((page) => page.uses),
  });
  if (hidden !== undefined) {
    const message = `New name cannot be given, the symbol ${hidden.why}: ${newName}`;
    return { ...refused({ reason: hidden.reason, message }), candidateFiles };
  }
  const edited = pages.flatMap((page) => page.edited);
  const conflicts = findConflicts({ edited, subject, family, system, project, newName: newName.replace(/^r#/, '') });
  const residual = [...pages.flatMap((page) => page.residual), ...findEmbedded(project, family, subject)];
  return { edits, residual, conflicts, kept: pages.flatMap((page) => page.kept), candidateFiles };
}

/** Files that hold code of the family among other text, such as a Vue component: they are not read. */
function findEmbedded({ files }: ScopeProject, { embeddedIn }: ModuleFamily, subject: RenameSubject): Residual[] {
  if (!subject.isShared || embeddedIn.length === 0) return [];
  return files
    .list()
    .filter((path) => embeddedIn.some((ending) => path.endsWith(ending)))
    .flatMap((path) => {
      const lines = new TextDecoder().decode(files.read(path) ?? new Uint8Array()).split('\n');
      return lines.flatMap((line, row) =>
        wordsIn(line, subject.name, subject.file.scopes.nameCharacter).map((at) => ({
          path,
          line: row + 1,
          col: at + 1,
          kind: 'opaque' as const,
        })),
      );
    });
}

interface Page {
  readonly edits: RenameEdit[];
  readonly residual: Residual[];
  readonly edited: EditedFile[];
  readonly uses: TokenUse[];
  readonly kept: Pick<RenameEdit, 'path' | 'start'>[];
}

function planFile(file: ProjectFile | undefined, judge: Judge, allowGenerated: boolean): Page {
  if (file === undefined) return { edits: [], residual: [], edited: [], uses: [], kept: [] };
  const { source } = file.scopes;
  const edits: RenameEdit[] = [];
  const residual: (Residual & { readonly start: number })[] = [];
  const renamed: NameToken[] = [];
  const uses: TokenUse[] = [];
  const kept: Page['kept'] = [];
  const judged = new Set<number>();
  const report = (start: number, rest: Pick<Residual, 'kind' | 'isGenerated'>) =>
    residual.push({ path: file.path, ...placeOf(source, start), ...rest, start });
  for (const token of file.scopes.tokensNamed(judge.subject.name)) {
    const verdict = judgeToken(file, token, judge);
    // A string that turned out to be no name is still a string.
    if (verdict !== 'other' || !token.isString || token.binding !== undefined) judged.add(token.start);
    if (verdict === 'other') continue;
    if (verdict === 'kept') kept.push({ path: file.path, start: source.toByte(token.start) });
    else if ('residual' in verdict) report(token.start, { kind: verdict.residual });
    else if (file.isGenerated && !allowGenerated) report(token.start, { kind: 'code', isGenerated: true });
    else {
      const [start, end] = [source.toByte(verdict.start ?? token.start), source.toByte(token.end)];
      edits.push({ path: file.path, start, end, newText: verdict.text, role: verdict.role });
      if (verdict.isBindingRenamed) renamed.push(token);
      uses.push({ file, token, meaning: verdict.meaning });
    }
  }
  for (const word of findWords(file.scopes, judge.subject.name)) {
    if (!judged.has(word.start) && isInReach(word.start, file, judge.subject)) report(word.start, { kind: word.kind });
  }
  residual.sort((left, right) => left.start - right.start);
  return {
    edits,
    residual: residual.map(({ start: _start, ...rest }) => rest),
    edited: edits.length === 0 ? [] : [{ file, renamed }],
    uses,
    kept,
  };
}

/** What a local name's scope, with the comment before it, does not hold cannot be about it. */
function isInReach(offset: number, file: ProjectFile, { isShared, file: home, binding }: RenameSubject): boolean {
  if (isShared) return true;
  const { start, end } = binding.scope;
  return file === home && offset < end && offset >= startWithComment(file, start);
}

function startWithComment({ scopes }: ProjectFile, start: number): number {
  const { text } = scopes.source;
  const comment = scopes.texts.findLast((one) => one.kind === 'comment' && one.end <= start);
  // Only words such as `export async` may be in between.
  return comment !== undefined && /^[\s\w]*$/.test(text.slice(comment.end, start)) ? comment.start : start;
}

function refused(refusal: Refusal): RenamePlan {
  return { edits: [], residual: [], conflicts: [], kept: [], refused: refusal, candidateFiles: [] };
}

/** The old name as a word of its own in strings and comments. */
interface FoundWord {
  readonly start: number;
  readonly kind: TextPart['kind'];
}

function findWords({ source, texts, nameCharacter }: FileScopes, name: string): FoundWord[] {
  return texts.flatMap(({ start, end, kind }) =>
    wordsIn(source.text.slice(start, end), name, nameCharacter).map((at) => ({ start: start + at, kind })),
  );
}

/** Offsets of a name that is not part of a longer one. */
function wordsIn(text: string, name: string, character: RegExp): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    if (!character.test(text.charAt(at - 1)) && !character.test(text.charAt(at + name.length))) found.push(at);
  }
  return found;
}

type Verdict =
  | (Renamed & { readonly meaning: Meaning | undefined })
  | { readonly residual: ResidualKind }
  /** It means the subject under a name that does not change. */
  | 'kept'
  | 'other';

interface Renamed {
  readonly text: string;
  readonly role: EditRole;
  readonly isBindingRenamed: boolean;
  /** Where the text to be replaced starts, when that is before the token. */
  readonly start?: number;
}

interface Judge {
  readonly subject: RenameSubject;
  readonly family: ModuleFamily;
  readonly system: ModuleSystem;
  readonly newName: string;
}

/** Decides about one token that has the old name: edit it, leave it, or report that its meaning is unknown. */
function judgeToken(file: ProjectFile, token: NameToken, judge: Judge): Verdict {
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
  if (meaning === undefined) return unknown(file, token, judge);
  return meansSubject(meaning, subject) ? 'kept' : 'other';
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
