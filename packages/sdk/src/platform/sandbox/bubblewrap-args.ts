/** The words of bubblewrap's command line. Later mounts lie over earlier ones, so their order is the profile. */
import { lstatSync, readlinkSync } from 'node:fs';
import { errnoCode } from '../errno-error.ts';
import type { BubblewrapProgram } from './bubblewrap-program.ts';

export type Words = readonly string[];

/**
 * Own namespaces of every kind, no capabilities, no terminal, dead when we die. As root the dropped capabilities are what
 * keeps a process from remounting its way out.
 */
export function wallFlags({ closesUserNamespaces }: BubblewrapProgram): Words {
  return [
    '--unshare-all',
    '--unshare-user',
    ...(closesUserNamespaces ? ['--disable-userns'] : []),
    ...['--cap-drop', 'ALL', '--die-with-parent', '--new-session', '--hostname', 'sandbox'],
  ];
}

export function readOnly(from: string, to = from): Words {
  return ['--ro-bind', from, to];
}

export function writable(from: string, to = from): Words {
  return ['--bind', from, to];
}

/** An empty folder in memory. */
export function emptyFolder(at: string, { boundsMemoryFiles }: BubblewrapProgram, bytes: number): Words {
  return [...(boundsMemoryFiles ? ['--size', String(bytes)] : []), '--tmpfs', at];
}

const SYSTEM_FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/** Programs and libraries as the host has them: real folders read-only, links as links. */
export function systemFolders(): Words {
  return SYSTEM_FOLDERS.flatMap((path) => {
    const kind = kindOf(path);
    if (kind === 'link') return ['--symlink', readlinkSync(path), path];
    return kind === 'folder' ? readOnly(path) : [];
  });
}

export type EntryKind = 'folder' | 'file' | 'link' | 'missing';

/** Of the name itself, links not followed. Sockets and the like count as files. */
export function kindOf(path: string): EntryKind {
  try {
    const stat = lstatSync(path);
    if (stat.isSymbolicLink()) return 'link';
    return stat.isDirectory() ? 'folder' : 'file';
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return 'missing';
  }
}
