/**
 * Makes a set of changes real, all of it or none.
 *
 * CONTRACT ONLY in this commit: the body follows.
 */
import type { StagedChange } from '../../changes/change-set.ts';
import type { PathRule } from '../../contracts/path-rule.ts';
import type { Disk } from '../descriptors/disk.ts';
import type { Root } from '../descriptors/root.ts';
import type { GoverningFiles } from '../protection/governing-files.ts';

/** Where changes are made, and what may not be changed there. */
export interface CommitGround {
  readonly root: Root;
  readonly guard: GoverningFiles;
  readonly rule?: PathRule | undefined;
}

/** Keeps what is needed to finish a commit after a kill; in the state folder. */
export interface RedoLog {
  /** From here on the commit will be finished, by us or by the next process that looks. */
  begin(root: Root, staged: readonly StagedChange[]): { done(): void };
}

export interface CommitOptions {
  readonly disk: Disk;
  readonly redo: RedoLog;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Throws E_VALIDATION_FAIL (`changed_meanwhile`, all paths named) when something is no longer what `before` says, E_POLICY for
 * governing files and path rules; then nothing has changed. Order of `staged` does not matter.
 */
export function commitChanges(
  _ground: CommitGround,
  _staged: readonly StagedChange[],
  _options: CommitOptions,
): Promise<void> {
  throw new Error('not yet');
}
