/** What governs a runtime: where its registry, lock, state and git folders lie, and what the operator adds. */
import { dirname, join, relative, resolve, sep } from 'node:path';
import { LOCK_FILE } from './contracts/external.ts';
import { failure } from './contracts/failures.ts';
import type { GoverningPlace } from './contracts/governing.ts';
import type { ToolSourcePorts } from './contracts/tool-source.ts';
import { realPath, realPathIfAny, tracePath } from './platform/descriptors/trace-path.ts';
import { gitPlaces } from './platform/git/git-folders.ts';
import { isWithin } from './platform/protection/governing-files.ts';
import { openStateFolder } from './platform/state/state-folder.ts';
import { openTrustList } from './registry/trust-list.ts';
import { REGISTRY_FILE } from './registry-in-force.ts';

export interface GoverningSetting {
  readonly workspace: string;
  /** Real path of the state folder: the trust list is in it. */
  readonly state: string;
  /** The file the operator's registry is read from. */
  readonly registryFile: string | undefined;
  /** What the embedding program adds: token files, sockets. */
  readonly added: readonly GoverningPlace[];
}

/** Throws E_POLICY for an operator's file that is reached through a link which tools could replace. */
export function governingPlaces({
  workspace,
  state,
  registryFile,
  added,
}: GoverningSetting): readonly GoverningPlace[] {
  const root = realPath(workspace);
  const lock = lockPlace({ workspace, state, registryFile });
  const own: readonly GoverningPlace[] = [
    ...(registryFile === undefined ? [] : [{ path: resolve(registryFile), access: 'read' } as const]),
    ...added.map(({ path, access }) => ({ path: resolve(path), access })),
  ];
  for (const { path } of own) refuseLinks(path, root);
  return [
    ...own,
    { path: join(root, REGISTRY_FILE), access: 'git' },
    // In the workspace its content has to be trusted.
    { path: lock.path, access: isWithin(lock.path, root) ? 'git' : 'read' },
    { path: state, access: 'none' },
    ...gitPlaces(root),
  ];
}

function refuseLinks(path: string, workspace: string): void {
  const link = tracePath(path).links.find((found) => isWithin(found, workspace));
  if (link === undefined) return;
  throw failure(
    'host_configuration_needed',
    'host_configuration_needed',
    `File that governs the runtime is reached through a link inside the workspace: ${path}`,
    { details: { reason: 'linked_governing_file', link, next: 'name the file itself, not the link' } },
  );
}

interface LockPlaceSetting {
  readonly workspace: string;
  readonly state: string;
  /** The file the operator's registry was read from: the lock lies beside it. Otherwise it lies in the workspace. */
  readonly registryFile?: string | undefined;
}

export type LockPlace = ToolSourcePorts['lock'] & {
  /** Its name in the list of trusted files; undefined when it is the operator's own. */
  readonly trustedAs: string | undefined;
};

/**
 * Where the lock of external tools lies, and whether its content counts.
 *
 * A lock inside the workspace came with the repository, so it must be trusted, wherever the registry comes from.
 */
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
