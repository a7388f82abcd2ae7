/** The workspace a command was given, checked before anything is created for it. */
import { statSync } from 'node:fs';
import { badUsage } from './bad-usage.ts';

export function checkWorkspace(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return;
  throw badUsage(
    `Workspace is ${found === undefined ? 'missing' : 'not a folder'}: ${path}`,
    'name an existing folder with --workspace',
  );
}
