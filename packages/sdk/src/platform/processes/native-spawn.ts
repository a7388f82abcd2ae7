/**
 * The calls of the C library that start a process without copying the host.
 *
 * Node forks, which costs time for every megabyte the host holds, on the event loop; posix_spawn borrows the memory
 * until the program is loaded. The two structures are opaque to us and given more room than any C library needs. Every
 * descriptor of the host above standard error is marked to close, also those the host itself inherited.
 */
import { endianness, constants as osConstants } from 'node:os';
import { errnoError } from '../errno-error.ts';
import { type Koffi, loadKoffi, type NativeLibrary } from '../koffi.ts';

export interface NativeStart {
  readonly program: string;
  /** With the program's own name first. */
  readonly argv: readonly string[];
  /** `NAME=value`. */
  readonly envp: readonly string[];
  readonly cwd: string;
  /** The host's descriptor for each of the child's, from 0 on. */
  readonly descriptors: readonly number[];
}

export interface ExitStatus {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Each throws an error with an errno `code`. */
export interface NativeSpawn {
  /** Both ends close by themselves in any program started. */
  pipe(): { readonly reader: number; readonly writer: number };
  /** Answers the process number of the leader of a new session, with default signals and nothing blocked. */
  start(request: NativeStart): number;
  /** Collects one child of ours; undefined while it runs. */
  collect(pid: number): ExitStatus | undefined;
}

const ARCHITECTURES: readonly string[] = ['x64', 'arm64', 'riscv64', 'loong64'];
const SYS_CLOSE_RANGE = 436;
const CLOSE_RANGE_CLOEXEC = 4;
const FIRST_OTHER_FD = 3;
const LAST_FD = 0xffffffff;
const O_CLOEXEC = 0o2000000;
const WNOHANG = 1;
const SETSIGDEF = 0x04;
const SETSIGMASK = 0x08;
const SETSID = 0x80;
const OPAQUE_BYTES = 512;
const SIGNAL_SET_BYTES = 128;
const { ECHILD, EINTR } = osConstants.errno;

const SIGNAL_NAMES: ReadonlyMap<number, NodeJS.Signals> = new Map(
  Object.entries(osConstants.signals).map(([name, number]) => [number, name as NodeJS.Signals]),
);

/** Undefined where it cannot work: no koffi, another system, a C library without the pieces. Never throws. */
export function loadNativeSpawn(): NativeSpawn | undefined {
  if (process.platform !== 'linux' || endianness() !== 'LE' || !ARCHITECTURES.includes(process.arch)) return undefined;
  try {
    const koffi = loadKoffi();
    const library = koffi.load(null);
    return { pipe: bindPipe(library, koffi), start: bindStart(library), collect: bindCollect(library, koffi) };
  } catch {
    // Not installed, or a symbol is missing: Node's own way does the same, only slower.
    return undefined;
  }
}

function bindPipe(library: NativeLibrary, koffi: Koffi): NativeSpawn['pipe'] {
  const pipe2 = library.func('pipe2', 'int', ['void *', 'int']);
  const ends = new Int32Array(2);
  return () => {
    if (pipe2(ends, O_CLOEXEC) === -1) throw errnoError(koffi.errno());
    const [reader = -1, writer = -1] = ends;
    return { reader, writer };
  };
}

function bindStart(library: NativeLibrary): NativeSpawn['start'] {
  const closeRange = library.func('syscall', 'int', ['long', 'uint', 'uint', 'uint']);
  const posixSpawn = library.func('posix_spawn', 'int', ['void *', 'str', 'void *', 'void *', 'char **', 'char **']);
  const attributes = sessionLeader(library);
  const actions = bindActions(library);
  const pid = new Int32Array(1);
  return ({ program, argv, envp, cwd, descriptors }) => {
    // Each time: a native library may have opened something without the mark since.
    closeRange(SYS_CLOSE_RANGE, FIRST_OTHER_FD, LAST_FD, CLOSE_RANGE_CLOEXEC);
    const prepared = actions.open();
    try {
      actions.fill(prepared, cwd, descriptors);
      check(posixSpawn(pid, program, prepared, attributes, [...argv, null], [...envp, null]));
    } finally {
      actions.release(prepared);
    }
    return pid[0] ?? -1;
  };
}

/** These functions answer an error number instead of setting it. */
function check(errno: number): void {
  if (errno !== 0) throw errnoError(errno);
}

/** Node ignores SIGPIPE, and a child would inherit that: `yes | head` would never end. */
function sessionLeader(library: NativeLibrary): Uint8Array {
  const call = (name: string, type: string, value: unknown) =>
    check(library.func(name, 'int', ['void *', type])(attributes, value));
  const attributes = new Uint8Array(OPAQUE_BYTES);
  check(library.func('posix_spawnattr_init', 'int', ['void *'])(attributes));
  call('posix_spawnattr_setflags', 'short', SETSIGDEF | SETSIGMASK | SETSID);
  call('posix_spawnattr_setsigdefault', 'void *', new Uint8Array(SIGNAL_SET_BYTES).fill(0xff));
  call('posix_spawnattr_setsigmask', 'void *', new Uint8Array(SIGNAL_SET_BYTES));
  return attributes;
}

function bindActions(library: NativeLibrary) {
  const init = library.func('posix_spawn_file_actions_init', 'int', ['void *']);
  const destroy = library.func('posix_spawn_file_actions_destroy', 'int', ['void *']);
  const addDup2 = library.func('posix_spawn_file_actions_adddup2', 'int', ['void *', 'int', 'int']);
  const addClose = library.func('posix_spawn_file_actions_addclose', 'int', ['void *', 'int']);
  const addChdir = library.func('posix_spawn_file_actions_addchdir_np', 'int', ['void *', 'str']);
  return {
    open(): Uint8Array {
      const actions = new Uint8Array(OPAQUE_BYTES);
      check(init(actions));
      return actions;
    },
    fill(actions: Uint8Array, cwd: string, descriptors: readonly number[]): void {
      check(addChdir(actions, cwd));
      // First to unused numbers, then to their places: a place may be the number another one comes from.
      const aside = Math.max(descriptors.length, ...descriptors.map((fd) => fd + 1));
      for (const [place, fd] of descriptors.entries()) check(addDup2(actions, fd, aside + place));
      for (const place of descriptors.keys()) check(addDup2(actions, aside + place, place));
      for (const place of descriptors.keys()) check(addClose(actions, aside + place));
    },
    release: (actions: Uint8Array) => destroy(actions),
  };
}

function bindCollect(library: NativeLibrary, koffi: Koffi): NativeSpawn['collect'] {
  const waitpid = library.func('waitpid', 'int', ['int', 'void *', 'int']);
  const status = new Int32Array(1);
  return (pid) => {
    const collected = waitpid(pid, status, WNOHANG);
    if (collected === pid) return exitStatus(status[0] ?? 0);
    if (collected === 0) return undefined;
    const errno = koffi.errno();
    if (errno === EINTR) return undefined;
    // Someone else in this process waited for any child and took ours: it is gone, and how it ended is unknown.
    if (errno === ECHILD) return { code: null, signal: null };
    throw errnoError(errno);
  };
}

function exitStatus(status: number): ExitStatus {
  const signal = status & 0x7f;
  if (signal === 0) return { code: (status >> 8) & 0xff, signal: null };
  return { code: null, signal: SIGNAL_NAMES.get(signal) ?? 'SIGKILL' };
}
