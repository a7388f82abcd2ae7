/**
 * The ignore files that have a say in one folder: its own first, then those above it, up to the repository's border.
 *
 * A folder that holds `.git` is a repository of its own: what ignore files above it say ends there, and its
 * `.git/info/exclude` speaks last.
 */
import { byteString, type EntryKind, type FolderIgnore, ignoreSubject } from './git-ignore.ts';

export interface FolderIgnoreFiles {
  readonly isRepository: boolean;
  readonly gitIgnore: FolderIgnore | undefined;
  readonly exclude: FolderIgnore | undefined;
}

export class IgnoreStack {
  readonly #checks: readonly FolderIgnore[];
  /** Roughly what one question costs. */
  readonly weight: number;

  constructor(checks: readonly FolderIgnore[] = []) {
    this.#checks = checks;
    this.weight = checks.reduce((sum, check) => sum + check.weight, 0);
  }

  enter(name: string, { isRepository, gitIgnore, exclude }: FolderIgnoreFiles): IgnoreStack {
    const checks: FolderIgnore[] = gitIgnore === undefined ? [] : [gitIgnore];
    let isSame = gitIgnore === undefined && !isRepository;
    if (!isRepository) {
      const bytes = byteString(name);
      for (const check of this.#checks) {
        const below = check.enter(bytes);
        isSame &&= below === check;
        checks.push(below);
      }
    }
    if (exclude !== undefined) checks.push(exclude);
    return isSame ? this : new IgnoreStack(checks);
  }

  ignores(name: string, kind: EntryKind): boolean {
    if (this.#checks.length === 0) return false;
    const subject = ignoreSubject(name, kind);
    for (const check of this.#checks) {
      const verdict = check.decide(subject);
      if (verdict !== undefined) return verdict === 'ignored';
    }
    return false;
  }
}
