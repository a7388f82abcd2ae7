/**
 * Listening on a Unix socket that only this user can reach.
 *
 * Node removes the path it bound when the server closes, even if another server has put its socket there since. So the
 * server binds a name of its own, which is then moved to the path: the path appears already closed to others (0600), is
 * never taken from a socket that is already there, and is removed only by us and only while it is ours.
 */
import { randomBytes } from 'node:crypto';
import { linkSync, lstatSync, mkdirSync, realpathSync, renameSync, type Stats, statSync, unlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect, type Server, type Socket } from 'node:net';
import { basename, dirname, join, resolve } from 'node:path';
import { SCOPES, ToolError } from '@tool-runtime/protocol';
import { errnoCode } from '../ops/private-file.ts';
import type { Principal } from './principal.ts';

export interface UnixListener {
  /** Real path. */
  readonly path: string;
  /** Takes the name away, if it is still ours. Before `server.close()`: until then nothing else has our inode. */
  release(): void;
}

/** What is left of 0777 is 0600. */
const UMASK = 0o177;

/** What the address of a Unix socket holds, less the final zero. */
const MAX_PATH_BYTES = process.platform === 'linux' ? 107 : 103;
const DRAFT_BYTES = 4;
/** How folders of the system look from inside a user namespace. */
const OVERFLOW_UID = 65_534;
const STICKY = 0o1000;
const WRITABLE_FOR_OTHERS = 0o022;

/** Throws E_POLICY when the path may not be used; the server is then not listening. */
export async function listenUnix(server: Server, path: string, peers?: PeerReader): Promise<UnixListener> {
  if (process.platform === 'win32') {
    throw new ToolError('E_POLICY', 'Unix sockets are not offered on Windows', { details: { next: 'listen on HTTP' } });
  }
  const real = await prepareSocketPath(path, peers);
  const draft = draftPath(real);
  await bind(server, draft).catch((thrown: unknown) => {
    throw failed(real, thrown);
  });
  try {
    linkSync(draft, real);
  } catch (thrown) {
    server.close();
    throw failed(real, thrown);
  }
  const own = lstatSync(draft);
  unlinkSync(draft);
  return { path: real, release: () => removeOwn(real, own) };
}

function bind(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // Node binds before `listen` returns, so nothing else of this process is made under the narrow mask.
    const mask = process.umask(UMASK);
    try {
      server.listen(path, () => {
        server.off('error', reject);
        resolve();
      });
    } finally {
      process.umask(mask);
    }
  });
}

function removeOwn(path: string, own: Stats): void {
  if (!sameFile(lstatSync(path, { throwIfNoEntry: false }), own)) return;
  try {
    unlinkSync(path);
  } catch {
    // Gone since the look, or the folder was closed to us: a leftover is cleared at the next start.
  }
}

function failed(path: string, cause: unknown): ToolError {
  return new ToolError('E_POLICY', `Socket cannot be put in place: ${path}`, {
    details: { gate: 'exposure', reason: errnoCode(cause) ?? 'EIO', next: 'try again, or name another socket' },
    cause,
  });
}

/**
 * Whether a path may become our Unix socket: it is in folders that only we can change, and it is free or left over from
 * a dead process.
 *
 * Only a socket that refuses connections is removed, identified by its inode: of two hosts that find the same leftover,
 * neither can remove the socket the other has put there since.
 *
 * The real path to listen on; folders that are missing are made (0700). Throws E_POLICY when it may not be used.
 */
async function prepareSocketPath(path: string, peers?: PeerReader): Promise<string> {
  const folder = prepareFolder(dirname(resolve(path)));
  const real = join(folder, basename(path));
  if (path.includes('\0') || Buffer.byteLength(longerOf(real, draftPath(real))) > MAX_PATH_BYTES) {
    throw refused('path_too_long', `Socket path is longer than ${MAX_PATH_BYTES} bytes`, 'choose a shorter folder');
  }
  await clearLeftover(real, peers);
  return real;
}

/** A free name beside the path. */
function draftPath(path: string): string {
  return join(dirname(path), `.${randomBytes(DRAFT_BYTES).toString('hex')}`);
}

function sameFile(one: Stats | undefined, other: Stats | undefined): boolean {
  return one !== undefined && other !== undefined && one.dev === other.dev && one.ino === other.ino;
}

function longerOf(one: string, other: string): string {
  return one.length > other.length ? one : other;
}

function prepareFolder(folder: string): string {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const real = realpathSync.native(folder);
    for (let place = real; ; place = dirname(place)) {
      checkFolder(place, statSync(place), place === real ? [] : [OVERFLOW_UID]);
      if (place === dirname(place)) return real;
    }
  } catch (thrown) {
    const code = errnoCode(thrown);
    if (code === undefined) throw thrown;
    throw refused('unusable_folder', `Folder of the socket cannot be used: ${code}`, 'name a folder of this user');
  }
}

/** Another user who can rename a folder on the way could replace our socket with their own. */
function checkFolder(folder: string, { mode, uid }: Stats, alsoOwners: readonly number[]): void {
  const isOurs = [process.geteuid?.(), 0, ...alsoOwners].includes(uid);
  const isSafe = (mode & WRITABLE_FOR_OTHERS) === 0 || (mode & STICKY) !== 0;
  if (isOurs && isSafe) return;
  const problem = isOurs
    ? 'Others may write in a folder of the socket'
    : 'A folder of the socket belongs to another user';
  const next = isOurs ? `chmod go-w ${folder}, or name another folder` : 'name a folder of this user';
  throw refused('unsafe_folder', `${problem}: ${folder}`, next);
}

async function clearLeftover(path: string, peers: PeerReader | undefined): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket())
    throw refused('not_a_socket', `Something that is no socket has the name: ${path}`, 'remove it yourself');
  const answer = await knock(path, peers);
  if (answer.isLive) throw inUse(path, answer.pid);
  removeExactly(path, found);
}

interface Answer {
  readonly isLive: boolean;
  readonly pid?: number | undefined;
}

/** Only a refused connection proves that there is no listener; a full queue or a denied connection means there is one. */
function knock(path: string, peers: PeerReader | undefined): Promise<Answer> {
  return new Promise((settle) => {
    const socket: Socket = connect(path);
    socket.once('connect', () => {
      const pid = peers?.peerOf(socket)?.pid;
      socket.destroy();
      settle({ isLive: true, pid });
    });
    socket.once('error', (error) => {
      const code = errnoCode(error);
      settle({ isLive: code !== 'ECONNREFUSED' && code !== 'ENOENT' });
    });
  });
}

/** Checked under a name of our own, where it cannot be swapped; a socket of another process is put back. */
function removeExactly(path: string, expected: Stats): void {
  const aside = draftPath(path);
  try {
    renameSync(path, aside);
  } catch (thrown) {
    if (errnoCode(thrown) === 'ENOENT') return;
    throw refused('unusable_folder', `Leftover socket cannot be removed: ${path}`, 'remove it yourself');
  }
  if (sameFile(lstatSync(aside), expected)) {
    unlinkSync(aside);
    return;
  }
  try {
    linkSync(aside, path);
  } finally {
    unlinkSync(aside);
  }
  throw inUse(path, undefined);
}

function inUse(path: string, pid: number | undefined): ToolError {
  const who = pid === undefined || pid === 0 ? 'another process' : `process ${pid}`;
  return refused('in_use', `Socket is in use by ${who}: ${path}`, 'stop it, or name another socket');
}

function refused(reason: string, message: string, next: string): ToolError {
  return new ToolError('E_POLICY', message, { details: { gate: 'exposure', reason, next } });
}

interface Peer {
  readonly pid: number;
  readonly uid: number;
  readonly gid: number;
}

interface PeerReader {
  /** Undefined when it cannot be told: no Unix socket, closed meanwhile, or no native calls here. */
  peerOf(socket: Socket): Peer | undefined;
}

const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
/** Where the numbers above hold; a few rarer machines have others. */
const MACHINES: ReadonlySet<string> = new Set(['x64', 'arm64', 'riscv64', 'loong64']);
/** struct ucred { pid_t pid; uid_t uid; gid_t gid; } */
const UCRED_BYTES = 12;
/** How the kernel shows every user that our user namespace does not know: it may be any user. */

type GetSocketOption = (fd: number, level: number, name: number, value: Uint32Array, length: Uint32Array) => number;

interface Koffi {
  load(path: null): { func(name: string, result: string, parameters: readonly string[]): GetSocketOption };
}

/**
 * The peer of a Unix socket, as the kernel recorded it when they connected (SO_PEERCRED).
 *
 * Through koffi, which is optional; without it, or away from Linux, users cannot be told apart and a token is needed. A
 * wrong signature can crash the process: there is one, of integers and two buffers of a stated length.
 *
 * Never throws. Loading takes some milliseconds: once per host.
 */
export function createPeerReader(): PeerReader {
  const getSocketOption = loadGetSocketOption();
  return {
    peerOf(socket) {
      const fd = descriptorOf(socket);
      if (getSocketOption === undefined || fd === undefined) return undefined;
      const credentials = new Uint32Array(UCRED_BYTES / Uint32Array.BYTES_PER_ELEMENT);
      const length = Uint32Array.of(UCRED_BYTES);
      const result = getSocketOption(fd, SOL_SOCKET, SO_PEERCRED, credentials, length);
      const [pid = 0, uid = OVERFLOW_UID, gid = OVERFLOW_UID] = credentials;
      return result === 0 && length[0] === UCRED_BYTES && isKnown(uid) ? { pid, uid, gid } : undefined;
    },
  };
}

/**
 * The user the host runs as, with all scopes, and no other user. Not even root: a host is spoken to by its owner, and
 * root, who can read the token file, loses nothing but the habit.
 */
export function peerPrincipal(peer: Peer | undefined): Principal | undefined {
  if (peer === undefined || peer.uid !== process.geteuid?.() || peer.uid === OVERFLOW_UID) return undefined;
  const id = `uid:${peer.uid}`;
  return { id, name: id, scopes: new Set(SCOPES), isOwner: true };
}

/** A socket that is not a Unix one answers with a uid of -1. */
function isKnown(uid: number): boolean {
  return uid !== 0xffff_ffff;
}

/** Node offers no public way to the descriptor. */
function descriptorOf(socket: Socket): number | undefined {
  const fd = (socket as { _handle?: { fd?: unknown } | null })._handle?.fd;
  return typeof fd === 'number' && fd >= 0 ? fd : undefined;
}

function loadGetSocketOption(): GetSocketOption | undefined {
  if (process.platform !== 'linux' || !MACHINES.has(process.arch)) return undefined;
  try {
    const koffi = createRequire(import.meta.url)('koffi') as Koffi;
    return koffi.load(null).func('getsockopt', 'int', ['int', 'int', 'int', 'void *', 'void *']);
  } catch {
    // Not installed, or its binary does not fit this machine: tokens work without it.
    return undefined;
  }
}
