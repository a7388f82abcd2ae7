/** The tree of a transaction where no overlay can be mounted: a copy of the workspace. No command runs on it. */
import { closeSync, openSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ToolError } from '@tool-runtime/protocol';
import type { HeldWorkspace, ProtectedPath, StagedTree } from '../../contracts/commands.ts';
import { failure } from '../../contracts/failures.ts';
import { identityOf } from '../descriptors/root.ts';
import { inState } from '../descriptors/state-safety.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import { compareCopy } from './compare-copy.ts';
import { type CopyLimits, type CopyManifest, copyWorkspace, TooLargeToCopy } from './copy-workspace.ts';
import { makeOverlayFolder, makeOverlaysFolder, removeOverlayFolder, sweepOverlays } from './overlay-folders.ts';
import { folderIn, type StageSetting } from './staged-tree.ts';

export interface CopySetting extends StageSetting {
  readonly state: string;
  /** What tools may not read is not copied. */
  readonly protectedPaths: readonly ProtectedPath[];
  /** Why there is no overlay. */
  readonly problem: ToolError;
  readonly limits?: CopyLimits;
  readonly signal: AbortSignal | undefined;
}

const COPY_LIMITS: CopyLimits = { entries: 50_000, bytes: 1024 ** 3 };
/** One of the parts of an overlay's folder: both are swept in the same way. */
const COPY = 'upper';
const BIG = { bigint: true } as const;

/** Throws E_POLICY (`no_overlay`) for a workspace that is too large to be copied. */
export async function copiedTree(setting: CopySetting): Promise<StagedTree> {
  const { state, workspace, problem, protectedNames } = setting;
  await sweepOverlays(state);
  const folder = inState(() => makeOverlaysFolder(state));
  const release = (): Promise<void> => removeOverlayFolder(dirname(folder), folder.slice(dirname(folder).length + 1));
  try {
    const mode = statSync(workspace.path).mode & 0o777;
    const path = join(
      inState(() => makeOverlayFolder(folder, '1', mode | 0o700)),
      COPY,
    );
    const open = (): number => openSync(path, DIRECTORY_HANDLE);
    const manifest = await fill(open(), setting);
    return {
      ...{ words: [], path, open, release, problem },
      folder: (inner) => folderIn({ open }, inner),
      collect: (_, signal) =>
        withBoth(open(), workspace, (copy, lower) =>
          compareCopy({ manifest, copy, workspace: lower, path, protectedNames: protectedNames(), signal }),
        ),
      cover: () => Promise.reject(problem),
    };
  } catch (thrown) {
    await release();
    throw thrown instanceof TooLargeToCopy ? tooLarge(thrown.message, problem) : thrown;
  }
}

function fill(
  to: number,
  { workspace, protectedPaths, limits = COPY_LIMITS, signal }: CopySetting,
): Promise<CopyManifest> {
  const hidden = new Set(
    protectedPaths.flatMap(({ path, access }) => {
      const stat = access === 'hide' ? statSync(path, { ...BIG, throwIfNoEntry: false }) : undefined;
      return stat === undefined ? [] : [identityOf(stat)];
    }),
  );
  return withBoth(to, workspace, (copy, from) => copyWorkspace({ from, to: copy, hidden, limits, signal }));
}

async function withBoth<T>(
  copy: number,
  workspace: HeldWorkspace,
  use: (copy: number, workspace: number) => Promise<T>,
): Promise<T> {
  try {
    const held = workspace.open();
    try {
      return await use(copy, held);
    } finally {
      closeSync(held);
    }
  } finally {
    closeSync(copy);
  }
}

function tooLarge(what: string, problem: ToolError): ToolError {
  return failure(
    'isolation_failure',
    'host_configuration_needed',
    `Workspace is too large for a transaction without an overlay: ${what}`,
    {
      details: {
        gate: 'transaction',
        reason: 'no_overlay',
        problem: problem.message,
        next: 'use a Linux kernel 5.11 or later that lets users mount overlays, with the state folder on ext4, XFS or Btrfs; or make the calls without a transaction',
      },
    },
  );
}
