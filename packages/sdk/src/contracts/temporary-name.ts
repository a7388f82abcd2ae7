/**
 * Names of files and trees that are being written. Lists, searches and git tools leave them out.
 *
 * A name says whose it is: process number, start time, process namespace and boot. What a dead owner left is removed at
 * once; names without an owner are of an older version.
 */

export const TEMPORARY_PREFIX = '.tool-runtime-tmp-';
const TEMPORARY_NAME = /^\.tool-runtime-tmp-(?:([0-9]+-[0-9]+-[0-9]+-[0-9a-f]{8})-)?[0-9a-f]{12}$/;

export function isTemporaryName(name: string | Buffer): boolean {
  return typeof name === 'string' && TEMPORARY_NAME.test(name);
}

/** Undefined when the name has none. */
export function temporaryOwner(name: string): string | undefined {
  return TEMPORARY_NAME.exec(name)?.[1];
}

/** Whether the path is one of these, or inside one. */
export function isTemporaryPath(path: string): boolean {
  return path.includes(TEMPORARY_PREFIX) && path.split('/').some(isTemporaryName);
}
