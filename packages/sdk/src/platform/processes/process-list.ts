/**
 * The processes of this machine, from /proc.
 *
 * A process may end between being listed and being read: it is then left out. Figures mean what `ps` means by them: CPU
 * as a percentage of the time since the process started, memory as resident set.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface ProcessInfo {
  readonly pid: number;
  readonly words: readonly string[];
  readonly cpuPercent: number;
  readonly memoryMb: number;
}

/** USER_HZ is 100 on every architecture Linux runs Node on. */
const TICKS_PER_SECOND = 100;
const MIB = 1024 * 1024;

export function listProcesses(): ProcessInfo[] {
  const uptime = Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]);
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    if (!Number.isInteger(pid)) return [];
    const process = readProcess(pid, uptime);
    return process === undefined ? [] : [process];
  });
}

function readProcess(pid: number, uptime: number): ProcessInfo | undefined {
  try {
    const stat = parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      .split('\0')
      .filter((word) => word !== '');
    const seconds = Math.max(uptime - stat.startTicks / TICKS_PER_SECOND, 1 / TICKS_PER_SECOND);
    return {
      pid,
      // Kernel threads have no command line; ps shows their name in brackets.
      words: words.length === 0 ? [`[${stat.name}]`] : words,
      cpuPercent: rounded((stat.cpuTicks / TICKS_PER_SECOND / seconds) * 100),
      memoryMb: rounded(residentBytes(pid) / MIB),
    };
  } catch {
    // It ended meanwhile, or belongs to someone who hides it.
    return undefined;
  }
}

interface Stat {
  readonly name: string;
  readonly cpuTicks: number;
  readonly startTicks: number;
}

/** The name may hold blanks and brackets, so fields are counted from its last bracket on. */
function parseStat(text: string): Stat {
  const end = text.lastIndexOf(')');
  const fields = text.slice(end + 2).split(' ');
  return {
    name: text.slice(text.indexOf('(') + 1, end),
    cpuTicks: Number(fields[11]) + Number(fields[12]),
    startTicks: Number(fields[19]),
  };
}

function residentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

/** State of a socket that listens, in /proc/net/tcp. */
const LISTENS = '0A';

/**
 * Whether programs started here listen on a TCP port.
 *
 * A program in a network namespace of its own cannot be asked from outside, but /proc shows the sockets of its namespace.
 * There every listener counts: nothing but the session's programs is in it. In the host's namespace only sockets that
 * the programs hold themselves count, so that another program's server is not taken for theirs.
 */
export function isListening(leaders: readonly number[], port: number): boolean {
  if (leaders.length === 0) return false;
  const own = namespaceOf('self');
  const listeners = new Map<string, ReadonlySet<string>>();
  return descendants(leaders).some((pid) => {
    const namespace = namespaceOf(pid);
    if (namespace === undefined) return false;
    const inodes = listeners.get(namespace) ?? listenersOn(port, pid);
    listeners.set(namespace, inodes);
    return inodes.size > 0 && (namespace !== own || holdsOneOf(pid, inodes));
  });
}

/** The processes themselves and all that descend from them. */
function descendants(leaders: readonly number[]): readonly number[] {
  const children = new Map<number, number[]>();
  for (const pid of names('/proc').map(Number).filter(Number.isInteger)) {
    const parent = parentOf(pid);
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const found = [...leaders];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

function parentOf(pid: number): number | undefined {
  const text = read(`/proc/${pid}/stat`);
  // The name may hold blanks and brackets, so fields are counted from its last bracket on.
  return text === undefined ? undefined : Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
}

function namespaceOf(pid: number | 'self'): string | undefined {
  return link(`/proc/${pid}/ns/net`);
}

/** Inodes of the sockets that listen on the port, in the namespace of this process. */
function listenersOn(port: number, pid: number): ReadonlySet<string> {
  const rows = ['tcp', 'tcp6'].flatMap((table) => read(`/proc/${pid}/net/${table}`)?.split('\n').slice(1) ?? []);
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const inodes = rows.flatMap((row) => {
    const [, local = '', , state, , , , , , inode = ''] = row.trim().split(/\s+/);
    return state === LISTENS && local.endsWith(`:${hex}`) ? [inode] : [];
  });
  return new Set(inodes);
}

function holdsOneOf(pid: number, inodes: ReadonlySet<string>): boolean {
  const folder = `/proc/${pid}/fd`;
  return names(folder).some((fd) => inodes.has(/^socket:\[(\d+)\]$/.exec(link(`${folder}/${fd}`) ?? '')?.[1] ?? ''));
}

/** A process may end while it is looked at: then there is nothing to read. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function link(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function names(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
