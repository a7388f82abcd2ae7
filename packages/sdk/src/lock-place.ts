/** Where the lock of external tools lies, and whether its content counts. */
import { dirname, join, relative, resolve, sep } from 'node:path';
import { LOCK_FILE } from './contracts/external.ts';
import type { ToolSourcePorts } from './contracts/tool-source.ts';
import { realPath, realPathIfAny } from './platform/descriptors/trace-path.ts';
import { openStateFolder } from './platform/state/state-folder.ts';
import { openTrustList } from './registry/trust-list.ts';

export interface LockPlaceSetting {
  readonly workspace: string;
  readonly state: string;
  /** The file the operator's registry was read from: the lock lies beside it. Otherwise it lies in the workspace. */
  readonly registryFile?: string | undefined;
}

export type LockPlace = ToolSourcePorts['lock'] & {
  /** Its name in the list of trusted files; undefined when it is the operator's own. */
  readonly trustedAs: string | undefined;
};

/** A lock inside the workspace came with the repository, so it must be trusted, wherever the registry comes from. */
export function lockPlace({ workspace, state, registryFile }: LockPlaceSetting): LockPlace {
  const root = realPath(workspace);
  const folder = registryFile === undefined ? root : realPathIfAny(dirname(resolve(registryFile)));
  const isForeign = folder === root || folder.startsWith(`${root}${sep}`);
  const path = join(folder, LOCK_FILE);
  const trustedAs = isForeign ? relative(root, path) : undefined;
  return {
    path,
    trustedAs,
    isTrusted: (sha256) =>
      trustedAs === undefined || openTrustList(openStateFolder(state, { workspace })).has(trustedAs, sha256),
  };
}
