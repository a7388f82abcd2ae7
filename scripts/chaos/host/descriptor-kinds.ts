/** What the descriptors of a process lead to, for evidence: most frequent first, with numbers taken out of names. */
import { link, list, read } from './process-tree.ts';

const MAX_KINDS = 12;
/** States of TCP as the kernel writes them. */
const STATES: Readonly<Record<string, string>> = {
  '01': 'established',
  '08': 'half closed by the peer',
  '0A': 'listening',
};

export function descriptorKinds(pid: number): readonly string[] {
  const sockets = describeSockets(pid);
  const counts = new Map<string, number>();
  for (const fd of list(`/proc/${pid}/fd`)) {
    const target = link(`/proc/${pid}/fd/${fd}`);
    const kind = sockets.get(target) ?? target.replace(/[0-9a-f]{6,}|\d+/g, '#');
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const sorted = [...counts].toSorted(([, one], [, other]) => other - one);
  return sorted.slice(0, MAX_KINDS).map(([kind, count]) => `${count} ${kind}`);
}

function describeSockets(pid: number): ReadonlyMap<string, string> {
  const described = new Map<string, string>();
  for (const line of read(`/proc/${pid}/net/tcp`).split('\n').slice(1)) {
    const [, local = '', , state = '', , , , , , inode] = line.trim().split(/\s+/);
    const port = Number.parseInt(local.split(':')[1] ?? '', 16);
    described.set(`socket:[${inode}]`, `tcp ${port} ${STATES[state] ?? state}`);
  }
  for (const line of read(`/proc/${pid}/net/unix`).split('\n').slice(1)) {
    const [, , , , , state, inode, path = ''] = line.trim().split(/\s+/);
    described.set(`socket:[${inode}]`, `unix ${state === '03' ? 'connected' : state} ${path.split('/').at(-1)}`);
  }
  return described;
}
