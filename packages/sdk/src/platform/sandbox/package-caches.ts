/**
 * Caches of package managers that commands of one workspace keep: a folder below the state folder that holds nothing
 * else. What a command puts there reaches later commands of this workspace, inside their sandbox, and nothing more.
 */
import { mkdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_CACHES } from '../../contracts/sandbox-names.ts';
import { sha256Hex } from '../digest.ts';
import { openStateFolder } from '../state/state-folder.ts';
import type { KeptFolder } from './isolation-bubblewrap.ts';

/** In the state folder; holds one folder for each workspace, or part of one, that sessions were opened on. */
const CACHES_FOLDER = 'caches';

/** Where programs see it. */
const INSIDE = '/var/cache/packages';

export interface CacheChoice {
  /** Names of package managers. */
  readonly caches?: readonly string[] | undefined;
  /** False: programs may change nothing. */
  readonly writable?: boolean | undefined;
}

/** Undefined where nothing is kept. Its time says when it was last used. */
export function openCaches(
  choice: CacheChoice & { readonly workspace: string; readonly state: string },
): KeptFolder | undefined {
  const names = namesOf(choice);
  if (names.length === 0) return undefined;
  const { workspace, state } = choice;
  const parent = openStateFolder(join(state, CACHES_FOLDER), { workspace });
  const { path: from } = openStateFolder(join(parent.path, folderOf(workspace)), { workspace });
  for (const name of names) mkdirSync(join(from, name), { recursive: true, mode: 0o700 });
  const now = new Date();
  utimesSync(from, now, now);
  return { from, at: INSIDE };
}

/** Where a package manager's cache lies outside the sandbox; undefined where none is kept. */
export function cacheFolder(
  name: string,
  choice: CacheChoice & { readonly workspace: string; readonly state?: string | undefined },
): string | undefined {
  if (choice.state === undefined || !namesOf(choice).includes(name)) return undefined;
  return join(choice.state, CACHES_FOLDER, folderOf(choice.workspace), name);
}

/** Each workspace has its own. */
function folderOf(workspace: string): string {
  return sha256Hex(workspace).slice(0, 16);
}

export function cacheVariables(choice: CacheChoice): Readonly<Record<string, string>> {
  const entries = namesOf(choice).flatMap((name) =>
    Object.entries(PACKAGE_CACHES[name] ?? {}).map((each) => [name, ...each]),
  );
  return Object.fromEntries(
    entries.map(([name = '', variable, folder = '.']) => [variable, join(INSIDE, name, folder)]),
  );
}

function namesOf({ caches = [], writable }: CacheChoice): readonly string[] {
  return writable === false ? [] : caches;
}
