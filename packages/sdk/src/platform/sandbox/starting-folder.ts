/** Where a walled program starts: below the workspace, or in a folder it was lent. */
import { isAbsolute, join, normalize } from 'node:path';
import { ToolError } from '@tool-runtime/protocol';
import type { WalledProgram, WallRequest } from '../../contracts/commands.ts';

/** Absolute. Throws E_SHELL for an absolute folder that was not lent. */
export function startingFolder({ cwd }: Pick<WalledProgram, 'cwd'>, { workspace, folders = [] }: WallRequest): string {
  if (!isAbsolute(cwd)) return join(workspace.path, cwd);
  const folder = normalize(cwd);
  if (folders.some(({ path }) => folder === path || folder.startsWith(`${path}/`))) return folder;
  throw new ToolError('E_SHELL', 'Folder to start in is outside the wall', {
    path: 'cwd',
    details: { reason: 'not_visible', next: 'start in a folder of the workspace' },
  });
}
