/** Where bubblewrap is on this machine, and what this version of it can do. */
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { Spawner } from '../processes/spawned-process.ts';

/** Where distributions put it. The search path is not asked: it may lead into the workspace. */
export const BUBBLEWRAP_PLACES: readonly string[] = [
  '/usr/bin/bwrap',
  '/usr/local/bin/bwrap',
  '/bin/bwrap',
  '/run/current-system/sw/bin/bwrap',
];

export interface BubblewrapProgram {
  readonly path: string;
  /** Can forbid further user namespaces inside. */
  readonly closesUserNamespaces: boolean;
  /** Can bound a file system kept in memory. */
  readonly boundsMemoryFiles: boolean;
}

/** Undefined when it is not installed. Throws an error with an errno `code` when it cannot be started. */
export async function findBubblewrapProgram(
  spawner: Spawner,
  places: readonly string[] = BUBBLEWRAP_PLACES,
): Promise<BubblewrapProgram | undefined> {
  const path = places.find((place) => existsSync(place));
  if (path === undefined) return undefined;
  const asked = await spawner.spawn({
    program: path,
    args: ['--help'],
    env: {},
    cwd: '/',
    stdin: 'null',
    stdout: 'pipe',
    stderr: 'null',
  });
  const help = asked.stdout === undefined ? '' : await text(asked.stdout);
  return { path, closesUserNamespaces: help.includes('--disable-userns'), boundsMemoryFiles: help.includes('--size ') };
}
