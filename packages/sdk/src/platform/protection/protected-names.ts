/**
 * Names that no file tool may create, change or remove, wherever they stand in the tree. Reading them is allowed.
 * Our own temporary names are among them: a sweep would take what a caller puts there.
 */

import { ToolError } from '@tool-runtime/protocol';
import { LOCK_FILE } from '../../contracts/external.ts';
import { isTemporaryName } from '../../contracts/temporary-name.ts';
import { SANDBOX_RULE, shownPath } from '../descriptors/path-rules.ts';

export interface ProtectedNames {
  /** Throws E_POLICY when a component of the resolved location is protected. */
  check(location: readonly string[], path: string): void;
}

/** Always protected: hooks and configuration in git's own data run programs, and the lock says which programs may run. */
const ALWAYS_PROTECTED = ['.git', LOCK_FILE];
const ASCII_ONLY = /^[\x00-\x7f]*$/;
const IGNORED_BY_FILE_SYSTEMS = /\p{Default_Ignorable_Code_Point}/gu;

export function createProtectedNames(names: readonly string[] = []): ProtectedNames {
  for (const name of names) {
    if (name === '' || name.includes('/')) throw new TypeError(`Protected name is not a single name: ${name}`);
  }
  const folded = new Set([...ALWAYS_PROTECTED, ...names].map(foldName));
  return {
    check(location, path) {
      const hit = location.find((component) => folded.has(foldName(component)) || isTemporaryName(component));
      if (hit === undefined) return;
      throw new ToolError('E_POLICY', `Path is protected: ${shownPath(path)}`, {
        path: shownPath(path),
        details: {
          rule: SANDBOX_RULE,
          reason: 'protected_name',
          name: shownPath(hit),
          next: 'Use the tool that owns this data; file tools may only read it',
        },
      });
    },
  };
}

/** Folders that ignore case also ignore invisible characters; both spellings open the same file there. */
export function foldName(name: string): string {
  if (ASCII_ONLY.test(name)) return name.toLowerCase();
  return name.normalize('NFKD').replace(IGNORED_BY_FILE_SYSTEMS, '').toLowerCase();
}
