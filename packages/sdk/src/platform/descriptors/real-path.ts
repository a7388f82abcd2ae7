/** A path with its links resolved, as processes see it. */
import { existsSync, realpathSync } from 'node:fs';

export function realPath(path: string): string {
  return realpathSync.native(path);
}

/** The path as it is where nothing exists; reading it then fails with a message of its own. */
export function realPathIfAny(path: string): string {
  return existsSync(path) ? realPath(path) : path;
}
