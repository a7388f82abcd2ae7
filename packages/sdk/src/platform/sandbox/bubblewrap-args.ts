/** The arguments of bubblewrap. Later mounts cover earlier ones, so their order matters. */
import { existsSync, lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { totalmem } from 'node:os';
import { text } from 'node:stream/consumers';
import { errnoCode } from '../errno-error.ts';
import type { Spawner } from '../processes/spawned-process.ts';

export type Words = readonly string[];

/**
 * Own namespaces of every kind, no capabilities, no terminal, dead when we die. As root the dropped capabilities are what
 * keeps a process from remounting its way out.
 */
export function sandboxFlags({ closesUserNamespaces }: BubblewrapProgram): Words {
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

export interface ResourceLimits {
  readonly processes: number;
  readonly openFiles: number;
  readonly fileBytes: number;
  readonly memoryBytes: number;
}

/**
 * Limits on what one process may take, set by util-linux's prlimit as the first program in the sandbox. The number of
 * processes is counted in the sandbox's own user namespace, so it bounds this command only; the kernel exempts root.
 * Memory is bounded by what a process writes to, not by addresses it reserves: engines with a garbage collector reserve
 * far more than they use.
 */
export function defaultLimits(): ResourceLimits {
  return {
    processes: 1024,
    openFiles: 4096,
    fileBytes: 8 * 1024 ** 3,
    memoryBytes: Math.max(2 * 1024 ** 3, Math.floor(totalmem() * 0.75)),
  };
}

const PROGRAMS = ['/usr/bin/prlimit', '/bin/prlimit'];

/** The words before the program's own. None where prlimit is missing: limits are coarse, the sandbox does not rest on them. */
export function limitWords(limits: ResourceLimits): readonly string[] {
  const program = PROGRAMS.find((path) => existsSync(path));
  if (program === undefined) return [];
  const host = hostLimits();
  const option = (name: string, row: string, wanted: number) =>
    `--${name}=${Math.min(wanted, host.get(row) ?? Number.MAX_SAFE_INTEGER)}`;
  return [
    program,
    '--core=0',
    option('nproc', 'Max processes', limits.processes),
    option('nofile', 'Max open files', limits.openFiles),
    option('fsize', 'Max file size', limits.fileBytes),
    option('data', 'Max data size', limits.memoryBytes),
  ];
}

/** The host's own hard limits: asking for more than them is refused, and the program would not start. */
function hostLimits(): ReadonlyMap<string, number> {
  try {
    const rows = readFileSync('/proc/self/limits', 'latin1').matchAll(/^(Max [a-z ]+?) {2,}\S+ +(\d+)/gm);
    return new Map([...rows].map(([, name = '', hard]) => [name, Number(hard)]));
  } catch {
    // No /proc: prlimit then says itself what it may not do.
    return new Map();
  }
}

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

/**
 * Where bubblewrap is on this machine, and what this version of it can do.
 *
 * Undefined when it is not installed. Throws an error with an errno `code` when it cannot be started.
 */
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
