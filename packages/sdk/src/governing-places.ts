/** What governs a runtime: where its registry, lock, state and git folders lie, and what the operator adds. */
import { join, resolve } from 'node:path';
import { failure } from './contracts/failures.ts';
import type { GoverningPlace } from './contracts/governing.ts';
import { lockPlace } from './lock-place.ts';
import { realPath, tracePath } from './platform/descriptors/trace-path.ts';
import { gitPlaces } from './platform/git/git-folders.ts';
import { isWithin } from './platform/protection/governing-files.ts';
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
