/** Trusting the registry that lies in a workspace, by its content, and taking that back. */
import { ToolError } from '@tool-runtime/protocol';
import { sha256Hex } from './platform/digest.ts';
import { openRoot } from './platform/root.ts';
import { defaultStateFolder, openStateFolder } from './platform/state-folder.ts';
import { createWorkspace } from './platform/workspace.ts';
import { openTrustList, type TrustList } from './registry/trust-list.ts';
import { REGISTRY_FILE } from './registry-in-force.ts';

export interface TrustTarget {
  readonly workspace: string;
  readonly state?: string;
}

/** Returns the SHA-256 that is trusted from now on. */
export async function trustWorkspaceRegistry(target: TrustTarget): Promise<string> {
  const sha256 = await registryDigest(target);
  trustListOf(target).add(sha256);
  return sha256;
}

/** Returns whether it was trusted. */
export async function revokeWorkspaceRegistry(target: TrustTarget): Promise<boolean> {
  return trustListOf(target).remove(await registryDigest(target));
}

function trustListOf({ workspace, state }: TrustTarget): TrustList {
  return openTrustList(openStateFolder(state ?? defaultStateFolder(workspace, process.env), { workspace }));
}

async function registryDigest({ workspace }: TrustTarget): Promise<string> {
  const files = createWorkspace(openRoot(workspace), {});
  try {
    if ((await files.stat(REGISTRY_FILE)) === null) {
      throw new ToolError('E_FILE_IO', `Workspace has no registry: ${REGISTRY_FILE}`, { path: REGISTRY_FILE });
    }
    const { bytes } = await files.readFile(REGISTRY_FILE);
    return sha256Hex(bytes);
  } finally {
    files.close();
  }
}
