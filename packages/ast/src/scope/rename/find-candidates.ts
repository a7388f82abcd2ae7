/** Which files can mean a symbol, by the bytes of its name; and the first of them that cannot be understood. */
import { posix } from 'node:path';
import type { ScopeProject } from '../scope-project.ts';
import type { Refusal } from './rename-plan.ts';
import type { RenameSubject } from './rename-subject.ts';

export function findCandidates(project: ScopeProject, { reach, name, file }: RenameSubject): readonly string[] {
  if (reach.kind === 'scope') return [file.path];
  if (reach.kind === 'project') {
    const { folder } = reach;
    return project.mentioning(name).filter((path) => folder === undefined || posix.dirname(path) === folder);
  }
  const callers = new Set(reach.names.flatMap((one) => project.mentioning(one)));
  const found = project.mentioning(name).filter((path) => callers.has(path) && (reach.within ?? path) === path);
  return [...new Set([file.path, ...found])].sort();
}

export function firstBroken(project: ScopeProject, paths: readonly string[]): Refusal | undefined {
  for (const path of paths) {
    const problem = project.file(path)?.problem;
    if (problem !== undefined) {
      const message = `File does not parse, uses in it may stay unseen: ${path}`;
      return { reason: 'parse_error', message, at: { path, ...problem } };
    }
    if (project.unreadable.has(path)) {
      return { reason: 'unreadable', message: `File is too large or no text: ${path}`, at: { path, line: 1, col: 1 } };
    }
  }
  return undefined;
}
