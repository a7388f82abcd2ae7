/** Where a session works: the whole workspace, or one folder of it, which then is the whole workspace to the session. */
import { contractViolation } from '../contracts/failures.ts';
import type { CapabilityPolicy } from '../contracts/registry.ts';
import type { OpenFolder, RuntimeParts } from './compile-session.ts';

/** A ceiling may name the folder too. Throws E_VALIDATION_FAIL for more than one. */
export function folderOf(asked: {
  readonly folder?: string | undefined;
  readonly capabilities?: CapabilityPolicy | undefined;
}): string | undefined {
  const { folder, capabilities } = asked;
  const roots = capabilities?.workspace_roots;
  const [root] = roots ?? [];
  const isOne = roots === undefined || (roots.length === 1 && (folder === undefined || root === folder));
  if (isOne) return folder ?? root;
  throw contractViolation('A session works in exactly one folder: capabilities.workspace_roots', {
    field: 'capabilities.workspace_roots',
    next: 'name one folder; open a session for each of the others',
  });
}

export async function openPlace(folder: string | undefined, runtime: RuntimeParts): Promise<OpenFolder> {
  return folder === undefined ? { runtime, close: async () => {} } : runtime.openFolder(folder);
}

/** The folder is part of the place by now; a ceiling that still named it would be meant from inside. */
export function withoutRoots(capabilities: CapabilityPolicy | undefined): CapabilityPolicy | undefined {
  if (capabilities?.workspace_roots === undefined) return capabilities;
  const { workspace_roots: _, ...rest } = capabilities;
  return rest;
}
