/** Names of files and trees that are being written. Lists, searches and git tools leave them out; a sweep removes old ones. */

export const TEMPORARY_PREFIX = '.tool-runtime-tmp-';
const TEMPORARY_NAME = /^\.tool-runtime-tmp-[0-9a-f]{12}$/;

export function isTemporaryName(name: string | Buffer): boolean {
  return typeof name === 'string' && TEMPORARY_NAME.test(name);
}

/** Whether the path is one of these, or inside one. */
export function isTemporaryPath(path: string): boolean {
  return path.includes(TEMPORARY_PREFIX) && path.split('/').some(isTemporaryName);
}
