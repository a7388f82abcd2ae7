/** The state folder a command means. */
import { defaultStateFolder } from '@tool-runtime/sdk/parts';
import { checkWorkspace } from '../terminal/workspace-folder.ts';
import type { SharedOptions } from './command.ts';

export function stateOf({ workspace, state }: SharedOptions): string {
  if (state !== undefined) return state;
  checkWorkspace(workspace);
  return defaultStateFolder(workspace, process.env);
}
