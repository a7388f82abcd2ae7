/**
 * Who this process is, so that a later one can tell whether it still runs.
 *
 * A process number alone is reused. On Linux its start time, the boot and the process namespace make it unique; a
 * process in another namespace cannot be seen from here and counts as alive, because treating a running call as lost
 * is the worse mistake. Elsewhere a reused number counts as alive, for the same reason.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import type { Instance } from '../../contracts/journal.ts';
import { errnoCode } from '../errno-error.ts';

/** A new identity each time: one process may host several runtimes. */
export function currentInstance(): Instance {
  return { id: randomUUID(), pid: process.pid, birth: birthOf(process.pid) ?? portableBirth() };
}

export function isAlive({ pid, birth }: Instance): boolean {
  if (!birth.startsWith('linux:')) return answersSignals(pid) && (pid !== process.pid || birth === portableBirth());
  const here = placeOf();
  if (here === undefined) return answersSignals(pid);
  const [boot, namespace] = placeParts(birth);
  const [ownBoot, ownNamespace] = placeParts(`linux:${here}`);
  if (boot !== ownBoot) return false;
  if (namespace !== ownNamespace) return true;
  return birthOf(pid) === birth;
}

/** This process in a form that fits into a file name, `<pid>-<start>-<namespace>-<boot>`; undefined without /proc. */
export const OWN_TAG: string | undefined = ownTag();

function ownTag(): string | undefined {
  const [boot = '', namespace] = placeParts(`linux:${placeOf() ?? ''}`);
  const start = startOf(process.pid);
  return boot === '' || start === undefined ? undefined : `${process.pid}-${start}-${namespace}-${boot.slice(0, 8)}`;
}

/** False where that cannot be told, as for a process in another namespace. */
export function isOwnerDead(tag: string): boolean {
  const [pid = '', start, namespace, boot] = tag.split('-');
  const [ownBoot = '', ownNamespace] = placeParts(`linux:${placeOf() ?? ''}`);
  if (ownBoot === '') return false;
  if (boot !== ownBoot.slice(0, 8)) return true;
  return namespace === ownNamespace && startOf(Number(pid)) !== start;
}

/** `linux:<boot>:<namespace>:<start>`; undefined where there is no such process or no /proc. */
function birthOf(pid: number): string | undefined {
  const place = placeOf();
  const start = startOf(pid);
  return place === undefined || start === undefined ? undefined : `linux:${place}:${start}`;
}

/** Start time in clock ticks since boot. A process that ended but was not yet collected by its parent has no start. */
function startOf(pid: number): string | undefined {
  const text = readText(`/proc/${pid}/stat`);
  // The program's name is in parentheses and may hold anything, spaces and parentheses too.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  const state = fields?.[0];
  return state === undefined || state === 'Z' || state === 'X' ? undefined : fields?.[19];
}

function placeOf(): string | undefined {
  const boot = readText('/proc/sys/kernel/random/boot_id')?.trim();
  return boot === undefined ? undefined : `${boot}:${namespaceOf()}`;
}

function placeParts(birth: string): readonly (string | undefined)[] {
  return birth.split(':').slice(1, 3);
}

function namespaceOf(): string {
  try {
    return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
  } catch {
    // Some sandboxes hide it; then all processes seen are taken to share one.
    return '0';
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Gone, or a system without /proc: either way there is nothing to read.
    return undefined;
  }
}

function portableBirth(): string {
  return `start:${Math.round(performance.timeOrigin)}`;
}

function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return errnoCode(thrown) === 'EPERM';
  }
}
