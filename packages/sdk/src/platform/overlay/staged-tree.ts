/** The tree of a transaction: one overlay that stays mounted until it is committed or given up. */
import { closeSync } from 'node:fs';
import { ToolError } from '@tool-runtime/protocol';
import type { StagedChange } from '../../changes/change-set.ts';
import type { HeldWorkspace, StagedTree } from '../../contracts/commands.ts';
import { explained } from '../descriptors/file-errors.ts';
import { relativePath } from '../descriptors/path-rules.ts';
import { openRoot, type Root, type RootOptions } from '../descriptors/root.ts';
import { errnoCode } from '../errno-error.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import { collectUpper } from './collect-upper.ts';
import type { MountedOverlay } from './overlay-mounts.ts';

export interface StageSetting {
  readonly workspace: HeldWorkspace;
  /** Paths below the workspace that are never taken over. */
  protectedNames(): readonly string[];
}

export function stagedTree(overlay: MountedOverlay, setting: StageSetting): StagedTree {
  const { upper, native, sinceNs } = overlay;
  return {
    words: overlay.words,
    path: overlay.path,
    open: overlay.open,
    release: overlay.release,
    folder: (path) => folderIn(overlay, path, { native }),
    async collect(known, signal) {
      const lower = setting.workspace.open();
      try {
        const found = await collectUpper({
          ...{ upper, lower, native, sinceNs, known, protectedNames: setting.protectedNames() },
          ...(signal === undefined ? {} : { signal }),
        });
        return { ...found, changes: found.changes.map(copied) };
      } finally {
        closeSync(lower);
      }
    },
    cover: async () => stagedTree(await overlay.cover(), setting),
  };
}

/** Files stay on the tree, which goes on when the commit fails. */
function copied({ source, ...change }: StagedChange): StagedChange {
  if (source === undefined) return change;
  return { ...change, source: 'file' in source ? { file: source.file } : source };
}

/** The caller closes it. */
export function openTreeRoot(tree: Pick<StagedTree, 'open'>, options: RootOptions): Root {
  const held = tree.open();
  try {
    return openRoot(`/proc/self/fd/${held}/.`, options);
  } finally {
    closeSync(held);
  }
}

/** Where a folder really is below the root. No link leads out of the tree. */
export function folderIn(tree: Pick<StagedTree, 'open'>, path: string, options: RootOptions = {}): string {
  const root = openTreeRoot(tree, options);
  try {
    const fd = explained(path, () => root.openBeneath(relativePath(path), DIRECTORY_HANDLE));
    const names = root.locate(fd);
    closeSync(fd);
    if (names !== undefined) return names.length === 0 ? '.' : names.join('/');
  } catch (thrown) {
    if (!isMissing(thrown)) throw thrown;
  } finally {
    root.close();
  }
  throw noFolder(path);
}

function isMissing(thrown: unknown): boolean {
  if (thrown instanceof ToolError) return thrown.code === 'E_FILE_IO';
  return errnoCode(thrown) !== undefined;
}

function noFolder(path: string): ToolError {
  return new ToolError('E_SHELL', `Folder not found: ${path}`, {
    path: 'cwd',
    details: { reason: 'not_found', next: 'start in an existing folder of the workspace' },
  });
}
