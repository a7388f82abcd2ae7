/** Processes as the kernel lists them. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface ProcessFacts {
  readonly pid: number;
  /** Tells a process from a later one with the same number. */
  readonly startTime: string;
  readonly name: string;
  readonly commandLine: string;
}

/** All that descend from it, nearest first. */
export function descendantsOf(pid: number): readonly ProcessFacts[] {
  const children = childrenOf(pid);
  return [...children, ...children.flatMap((child) => descendantsOf(child.pid))];
}

export function childrenOf(pid: number): readonly ProcessFacts[] {
  const tasks = list(`/proc/${pid}/task`);
  const numbers = tasks.flatMap((task) => read(`/proc/${pid}/task/${task}/children`).split(' ').filter(Boolean));
  return numbers.flatMap((number) => factsOf(Number(number)) ?? []);
}

/** Undefined for one that is gone or only waits to be collected. */
export function factsOf(pid: number): ProcessFacts | undefined {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === '') return undefined;
  // The name may hold blanks and brackets, so fields are counted from its last bracket on.
  const end = stat.lastIndexOf(')');
  const fields = stat.slice(end + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
  return {
    pid,
    startTime: fields[19] ?? '',
    name: stat.slice(stat.indexOf('(') + 1, end),
    commandLine: read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').slice(0, 300),
  };
}

export function isAlive({ pid, startTime }: ProcessFacts): boolean {
  return factsOf(pid)?.startTime === startTime;
}

/** Processes that name a folder, or have it as their working folder. */
export function processesAround(folder: string): readonly ProcessFacts[] {
  return list('/proc').flatMap((name) => {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) return [];
    const isNear = read(`/proc/${pid}/cmdline`).includes(folder) || link(`/proc/${pid}/cwd`).startsWith(folder);
    const facts = isNear ? factsOf(pid) : undefined;
    return facts === undefined ? [] : [facts];
  });
}

export function openDescriptors(pid: number): number {
  return list(`/proc/${pid}/fd`).length;
}

export function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024;
}

export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    // Gone meanwhile.
    return false;
  }
}

export function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It ended meanwhile.
    return '';
  }
}

export function link(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

export function list(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
