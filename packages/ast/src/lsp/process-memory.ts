/**
 * Resident memory of processes and everything they started, from /proc.
 *
 * In the sandbox, a server's processes are children of bubblewrap, which the host still sees. Where there is no
 * /proc the answer is undefined: the cap is then not enforced, the command runner's own limits still are.
 */
import { readdirSync, readFileSync } from 'node:fs';

const KIB = 1024;

/** Bytes, or undefined where they cannot be seen. */
export function processMemory(pids: readonly number[]): number | undefined {
  const parents = parentsOfAll();
  if (parents === undefined) return undefined;
  const wanted = new Set(pids);
  const belongs = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined && at > 1; at = parents.get(at)) {
      if (wanted.has(at)) return true;
    }
    return false;
  };
  return [...parents.keys()].filter(belongs).reduce((sum, pid) => sum + residentBytes(pid), 0);
}

function parentsOfAll(): Map<number, number> | undefined {
  let names: readonly string[];
  try {
    names = readdirSync('/proc');
  } catch {
    // Another system.
    return undefined;
  }
  const parents = new Map<number, number>();
  for (const name of names) {
    const pid = Number(name);
    const stat = Number.isInteger(pid) ? readProc(`${pid}/stat`) : undefined;
    // The program's name is in parentheses and may hold anything, so fields are counted from its end.
    const parent = Number(stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    if (Number.isInteger(parent)) parents.set(pid, parent);
  }
  return parents;
}

function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readProc(`${pid}/status`) ?? '')?.[1] ?? 0) * KIB;
}

function readProc(name: string): string | undefined {
  try {
    return readFileSync(`/proc/${name}`, 'latin1');
  } catch {
    // It ended meanwhile.
    return undefined;
  }
}
