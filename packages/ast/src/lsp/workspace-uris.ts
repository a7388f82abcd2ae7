/**
 * File names on both sides of the sandbox: callers use workspace-relative paths, servers use file URIs.
 *
 * Nothing that leaves here names a place of the host. A file outside the workspace gets an opaque name that is stable
 * while the servers run and cannot be sent back. Links are not resolved: files are opened through the workspace, which
 * judges them itself.
 */
import { createHash, randomBytes } from 'node:crypto';
import { isAbsolute, posix, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { outsideWorkspace } from './server-errors.ts';

const FILE_URI = /file:\/\/[^\s"'`<>()[\]{}|\\^]*/gi;
const SAFE_NAME = /^[\w.@+-]{1,80}$/;

export interface UriOptions {
  /** Absolute, links resolved: as the servers see it. */
  readonly root: string;
  /** Further folders of the host whose names must not appear in any text: tool chains, home. */
  readonly privatePaths?: readonly string[];
}

export class WorkspaceUris {
  readonly #root: string;
  readonly #hidden: readonly string[];
  readonly #salt = randomBytes(16);

  constructor({ root, privatePaths = [] }: UriOptions) {
    if (!isAbsolute(root) || root === sep) throw new TypeError(`Root is not absolute, or everything: ${root}`);
    this.#root = root.endsWith(sep) ? root.slice(0, -1) : root;
    // The longest first: one may lie below another.
    this.#hidden = privatePaths.filter((path) => isAbsolute(path) && path !== sep).sort((a, b) => b.length - a.length);
  }

  /** The one spelling of a workspace-relative path. Throws E_POLICY for one that is absolute or leaves the root. */
  clean(path: string): string {
    if (path === '' || path.includes('\0') || isAbsolute(path)) throw outsideWorkspace(this.hideIn(path));
    const clean = posix.join(path);
    if (clean === '..' || clean.startsWith('../')) throw outsideWorkspace(path);
    return clean.length > 1 && clean.endsWith('/') ? clean.slice(0, -1) : clean;
  }

  /** Throws E_POLICY as `clean` does. */
  toUri(path: string): string {
    return pathToFileURL(posix.join(this.#root, this.clean(path))).href;
  }

  /** Workspace-relative, or null for anything that is no file below the root. */
  toPath(uri: string): string | null {
    if (!/^file:/i.test(uri)) return null;
    let path: string;
    try {
      path = posix.normalize(fileURLToPath(uri));
    } catch {
      // Another host, an encoded slash, or no URI at all: not a file of ours.
      return null;
    }
    if (path === this.#root) return '.';
    return path.startsWith(`${this.#root}/`) ? path.slice(this.#root.length + 1) : null;
  }

  /** The path, or an opaque name that begins with `external:`. */
  nameOf(uri: string): string {
    return this.toPath(uri) ?? this.#externalName(uri);
  }

  /** Any text of a server without places of the host. */
  hideIn(text: string): string {
    let shown = text.includes('file://') ? text.replace(FILE_URI, (uri) => this.nameOf(uri)) : text;
    if (shown.includes(this.#root)) {
      shown = shown.replaceAll(`${this.#root}/`, '').replaceAll(this.#root, '.');
    }
    for (const path of this.#hidden) if (shown.includes(path)) shown = shown.replaceAll(path, 'external:');
    return shown;
  }

  #externalName(uri: string): string {
    const digest = createHash('sha256').update(this.#salt).update(uri).digest('hex').slice(0, 12);
    const name = uri.slice(uri.lastIndexOf('/') + 1);
    return `external:${digest}${SAFE_NAME.test(name) ? `/${name}` : ''}`;
  }
}
