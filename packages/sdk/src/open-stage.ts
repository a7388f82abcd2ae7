/** The files of a transaction: a workspace on its tree, under the rules and protection of the workspace it stands for. */
import type { StagedTree } from './contracts/commands.ts';
import type { RedoLog } from './platform/commit/redo-log.ts';
import { type ChangesSetting, createSessionChanges } from './platform/commit/workspace-changes.ts';
import { createDisk } from './platform/descriptors/disk.ts';
import type { Root } from './platform/descriptors/root.ts';
import { createWorkspace, type ExtraRoot } from './platform/files/workspace.ts';
import { openTreeRoot } from './platform/overlay/staged-tree.ts';
import type { GoverningFiles } from './platform/protection/governing-files.ts';
import { stagedGoverning } from './platform/protection/staged-governing.ts';
import type { OpenStage } from './session/compile-session.ts';

export interface StagePlace {
  /** The workspace that the tree stands for. */
  readonly root: Root;
  readonly governing: GoverningFiles;
  /** Can be read in a transaction, not changed: they are not on its tree. */
  readonly extraRoots: readonly ExtraRoot[];
  /** Where the workspace is in the one that path rules are written for; `.` for all of it. */
  readonly prefix: string;
  readonly changes: Pick<ChangesSetting, 'store' | 'maxFileBytes'>;
}

/** What a killed process staged is gone with it, so nothing has to be finished. */
const NO_REDO: RedoLog = { begin: () => ({ done: () => {} }), workOff: async () => [], left: () => [] };

export function openStage(
  tree: StagedTree,
  { root: real, governing, extraRoots, prefix, changes }: StagePlace,
): OpenStage {
  const root = openTreeRoot(tree, { backend: real.backend, native: real.native });
  const disk = createDisk();
  const workspace = createWorkspace(root, {
    governing: stagedGoverning(governing, real.path),
    disk,
    staged: { overlay: tree.problem === undefined ? tree : undefined, path: real.path },
    extraRoots: extraRoots.map((extra) => ({ ...extra, access: 'read' })),
    ...(prefix === '.' ? {} : { enclosing: { root, prefix, isFolderItself: true } }),
  });
  return {
    workspace,
    changes: createSessionChanges({
      ...changes,
      redo: NO_REDO,
      disk,
      ground: workspace.ground,
      prefix,
      isRecording: true,
    }),
    close() {
      workspace.close();
      root.close();
    },
  };
}
