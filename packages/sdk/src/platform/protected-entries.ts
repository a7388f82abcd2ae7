/**
 * The names in a workspace's root that a command may not change: git's data, the registry and the lock of external tools.
 *
 * What exists can be mounted read-only; what does not exist, or is a link, cannot. Such a name is compared afterwards,
 * and what appeared there is moved aside: it would take effect in the next call of another tool.
 */
import { randomBytes } from 'node:crypto';
import { lstatSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { LOCK_FILE } from '../contracts/external.ts';
import { kindOf } from './bubblewrap-args.ts';
import { errnoCode } from './errno-error.ts';

export const PROTECTED_ENTRIES: readonly string[] = ['.git', 'tool-runtime.yaml', LOCK_FILE];

export interface ProtectedEntries {
  /** Absolute paths of those that can be mounted read-only. */
  readonly mountable: readonly string[];
  /** Moves aside what is not what it was; answers the new names. */
  quarantine(): readonly string[];
}

export function protectEntries(workspace: string, names: readonly string[] = PROTECTED_ENTRIES): ProtectedEntries {
  const isMountable = (name: string) => ['folder', 'file'].includes(kindOf(join(workspace, name)));
  const mountable = names.filter(isMountable);
  const watched = names.filter((name) => !mountable.includes(name));
  const before = watched.map((name) => identityOf(join(workspace, name)));
  return {
    mountable: mountable.map((name) => join(workspace, name)),
    quarantine: () =>
      watched.flatMap((name, index) => {
        const now = identityOf(join(workspace, name));
        return now === undefined || now === before[index] ? [] : [moveAside(workspace, name)];
      }),
  };
}

function moveAside(workspace: string, name: string): string {
  const aside = `quarantined-${randomBytes(4).toString('hex')}-${name.replace(/^\./, '')}`;
  renameSync(join(workspace, name), join(workspace, aside));
  return aside;
}

function identityOf(path: string): string | undefined {
  try {
    const { dev, ino, ctimeNs } = lstatSync(path, { bigint: true });
    return `${dev}:${ino}:${ctimeNs}`;
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return undefined;
  }
}
