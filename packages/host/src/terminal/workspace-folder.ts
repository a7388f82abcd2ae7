/** The workspace a command was given and how it is opened; checked before anything is created for it. */
import { statSync } from 'node:fs';
import { badUsage } from './bad-usage.ts';

export interface WorkspaceOptions {
  readonly workspace: string;
  readonly state?: string;
  readonly registry?: string;
  readonly durability?: 'normal' | 'full';
  readonly witness?: string;
  readonly cassette?: string;
  readonly cassetteMode?: 'record' | 'replay' | 'replay-or-record';
  readonly cassetteApply?: boolean;
  /** `ignore`: the registry is opened although its examples do not hold. */
  readonly examples?: 'ignore';
}

export function checkWorkspace(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return;
  throw badUsage(
    `Workspace is ${found === undefined ? 'missing' : 'not a folder'}: ${path}`,
    'name an existing folder with --workspace',
  );
}
