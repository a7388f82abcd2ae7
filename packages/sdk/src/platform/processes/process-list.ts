/**
 * The processes of this machine, from /proc.
 *
 * A process may end between being listed and being read: it is then left out. Figures mean what `ps` means by them: CPU
 * as a percentage of the time since the process started, memory as resident set.
 */
import { readdirSync, readFileSync } from 'node:fs';

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
