/** Maps the paths and file URIs analyzers print to workspace-relative ones. Names only: nothing is looked up on disk. */
import { posix } from 'node:path';

/** `root` is absolute and real, as processes in the workspace see it; relative paths are taken from there. */
export function relativeTo(root: string): (pathOrUri: string) => string | undefined {
  return (pathOrUri) => {
    const path = plainPath(pathOrUri);
    if (path === undefined || path.includes('\0')) return undefined;
    const inside = posix.relative(root, posix.resolve(root, path));
    return inside === '' || inside === '..' || inside.startsWith('../') ? undefined : inside;
  };
}

/** A file URI without its scheme and encoding; a path as it is; undefined for any other scheme. */
export function plainPath(pathOrUri: string): string | undefined {
  const scheme = /^([a-z][a-z0-9+.-]+):(?=\/)/i.exec(pathOrUri)?.[1];
  if (scheme === undefined) return pathOrUri;
  if (scheme.toLowerCase() !== 'file') return undefined;
  const path = /^file:(?:\/\/(?:localhost)?)?(\/.*)$/is.exec(pathOrUri)?.[1];
  return path === undefined ? undefined : percentDecoded(path);
}

/** The text itself where it is not well encoded: then it was not encoded at all. */
export function percentDecoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    // May stop here: a lone percent sign in an unencoded name is no fault.
    return text;
  }
}
