/**
 * Limits on what one process may take, set by util-linux's prlimit as the first program behind the wall.
 *
 * The number of processes is counted inside the wall's own user namespace, so it bounds this command and nothing else;
 * the kernel exempts root from it. Memory is bounded by what a process writes to, not by addresses it reserves: engines
 * with a garbage collector reserve far more than they use.
 */
import { existsSync, readFileSync } from 'node:fs';
import { totalmem } from 'node:os';

export interface ResourceLimits {
  readonly processes: number;
  readonly openFiles: number;
  readonly fileBytes: number;
  readonly memoryBytes: number;
}

export function defaultLimits(): ResourceLimits {
  return {
    processes: 1024,
    openFiles: 4096,
    fileBytes: 8 * 1024 ** 3,
    memoryBytes: Math.max(2 * 1024 ** 3, Math.floor(totalmem() * 0.75)),
  };
}

const PROGRAMS = ['/usr/bin/prlimit', '/bin/prlimit'];

/** The words before the program's own. None where prlimit is missing: limits are coarse, the wall does not rest on them. */
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
