/**
 * A printed path → workspace-relative with forward slashes, or undefined when it is none or lies outside.
 *
 * Names decide, not the disk: a last segment without an extension is taken for prose unless it is a well-known file.
 */

const ABSOLUTE = /^(?:\/|[A-Za-z]:\/)/;
const EXTENSION = /.\.[A-Za-z][A-Za-z0-9_+-]{0,15}$/;
const BARE_NAMES = new Set(['Makefile', 'GNUmakefile', 'makefile', 'Dockerfile', 'Gemfile', 'Rakefile', 'Jenkinsfile']);
const IMPOSSIBLE = /[\u0000-\u001f"<>|*?]|:\//;
const MAX_PATH = 1024;

function slashed(path: string): string {
  return path.replaceAll('\\', '/');
}

function drive(path: string): string {
  return path.replace(/^[A-Z]:/, (letter) => letter.toLowerCase());
}

/** Undefined for an absolute path that is not below the root. */
function belowRoot(path: string, root: string | undefined): string | undefined {
  if (!ABSOLUTE.test(path)) return path;
  if (root === undefined) return undefined;
  let folder = drive(slashed(root));
  while (folder.endsWith('/')) folder = folder.slice(0, -1);
  const full = drive(path);
  return full.startsWith(`${folder}/`) ? full.slice(folder.length + 1) : undefined;
}

/** Undefined when `..` leaves the workspace. */
function withoutDots(path: string): string | undefined {
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') kept.push(segment);
    else if (kept.pop() === undefined) return undefined;
  }
  return kept.join('/');
}

export function findingPath(printed: string, root: string | undefined): string | undefined {
  if (printed.length > MAX_PATH || printed !== printed.trim()) return undefined;
  const inside = belowRoot(slashed(printed), root);
  const path = inside === undefined ? undefined : withoutDots(inside);
  if (path === undefined || IMPOSSIBLE.test(path)) return undefined;
  const name = path.slice(path.lastIndexOf('/') + 1);
  return EXTENSION.test(name) || BARE_NAMES.has(name) ? path : undefined;
}
