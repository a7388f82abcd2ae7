/**
 * Who is at the other end of a Unix socket, as the kernel recorded it when they connected (SO_PEERCRED).
 *
 * Through koffi, which is optional; without it, or away from Linux, users cannot be told apart and a token is needed. A
 * wrong signature can crash the process: there is one, of integers and two buffers of a stated length.
 */
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { SCOPES } from '@tool-runtime/protocol';
import type { Principal } from './principal.ts';

export interface Peer {
  readonly pid: number;
  readonly uid: number;
  readonly gid: number;
}

export interface PeerReader {
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
const OVERFLOW_UID = 65_534;

type GetSocketOption = (fd: number, level: number, name: number, value: Uint32Array, length: Uint32Array) => number;

interface Koffi {
  load(path: null): { func(name: string, result: string, parameters: readonly string[]): GetSocketOption };
}

/** Never throws. Loading takes some milliseconds: once per host. */
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
