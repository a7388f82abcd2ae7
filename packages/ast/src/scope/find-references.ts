/**
 * Every place that means a symbol, over the whole workspace, for operations that delete or move it.
 *
 * Counts what a rename leaves alone as well: a name that is passed on by `export { x } from` still needs the symbol. What
 * was imported under another name is represented by its import.
 */
import type { Engine } from '../symbols/engine.ts';
import { openFamily } from './open-family.ts';
import type { ProjectFiles } from './project-files.ts';
import { findCandidates, firstBroken } from './rename/find-candidates.ts';
import { placeOf } from './rename/place-of.ts';
import type { EditRole, Refusal, RenameTarget } from './rename/rename-plan.ts';
import { findSubject, meansSubject } from './rename/rename-subject.ts';
import { roleOf } from './rename/token-role.ts';

export interface ReferenceRequest {
  readonly files: ProjectFiles;
  readonly engine: Engine;
  readonly target: RenameTarget;
  readonly signal?: AbortSignal;
}

export interface Reference {
  readonly path: string;
  /** Bytes. */
  readonly start: number;
  readonly end: number;
  /** From 1; columns count UTF-16 units. */
  readonly line: number;
  readonly col: number;
  readonly role: EditRole;
}

export interface FoundReferences {
  /** By path and start; the definitions are among them. */
  readonly references: readonly Reference[];
  /** Then references are missing. */
  readonly refused?: Refusal;
}

export async function findReferences(request: ReferenceRequest): Promise<FoundReferences> {
  const opened = await openFamily({ ...request, path: request.target.path });
  if ('refused' in opened) return { references: [], refused: opened.refused };
  const { project, system } = opened;
  const answer = findSubject({ ...opened, target: request.target });
  if ('refused' in answer) return { references: [], refused: answer.refused };
  const { subject } = answer;
  const candidates = findCandidates(project, subject);
  const references: Reference[] = [];
  for (const path of candidates) {
    const file = project.file(path);
    if (file === undefined) continue;
    const { source } = file.scopes;
    for (const token of file.scopes.tokensNamed(subject.name)) {
      const isMeant =
        meansSubject(system.meaningOf(file, token), subject) || meansSubject(system.otherSideOf(file, token), subject);
      if (!isMeant) continue;
      const [start, end] = [source.toByte(token.start), source.toByte(token.end)];
      const role = roleOf(token, system.specifierOf(file, token));
      references.push({ path, start, end, ...placeOf(source, token.start), role });
    }
  }
  const broken = firstBroken(project, [...candidates, ...project.read.keys()]);
  return broken === undefined ? { references } : { references, refused: broken };
}
