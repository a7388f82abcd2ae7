/**
 * Paths that calls named → globs, as few as is safe: a folder becomes `folder/*.ext` once many of its files with that
 * ending were used, never its subfolders, never hidden files. Everything else stays the path itself.
 */
import { escapeGlob } from '../glob/glob-syntax.ts';

export interface PathPattern {
  readonly pattern: string;
  readonly paths: readonly string[];
  /** It matches paths that no call named. */
  readonly isWidened: boolean;
}

/** `from`: how many files of one folder with one ending become a glob. */
export function generalizePaths(paths: Iterable<string>, from: number): readonly PathPattern[] {
  const groups = Map.groupBy(new Set(paths), (path) => groupOf(path) ?? path);
  return [...groups].flatMap(([group, members]): readonly PathPattern[] => {
    if (members.length >= from && groupOf(members[0] ?? '') === group) {
      return [{ pattern: group, paths: members, isWidened: true }];
    }
    return members.map((path) => ({ pattern: escapeGlob(path), paths: [path], isWidened: false }));
  });
}

/** A folder that stands for all that is in it needs itself and what is below it; a glob stands for itself. */
export function setPatterns(paths: Iterable<string>): readonly PathPattern[] {
  return [...new Set(paths)].flatMap((path) => {
    const below = path === '.' ? '**' : `${escapeGlob(path)}/**`;
    const patterns = /[*?[\]{}\\]/.test(path) ? [path] : [escapeGlob(path), below];
    return patterns.map((pattern) => ({ pattern, paths: [path], isWidened: false }));
  });
}

/** `src/*.ts` for `src/a.ts`; undefined for what has no ending or is hidden. */
function groupOf(path: string): string | undefined {
  const cut = path.lastIndexOf('/') + 1;
  const [folder, name] = [path.slice(0, cut), path.slice(cut)];
  const dot = name.lastIndexOf('.');
  if (dot <= 0 || /(?:^|\/)\./.test(path) || /[*?[\]{}\\]/.test(path)) return undefined;
  return `${escapeGlob(folder)}*${escapeGlob(name.slice(dot))}`;
}
