/**
 * A network that the commands of one session share: a loopback of their own, with no way out, so that a server that runs
 * as a job can be reached by later commands.
 *
 * Bubblewrap makes the namespace around a process that ends at once; descriptors of ours keep it. Later commands are
 * started inside it (nsenter), and their sandbox keeps that network. It goes with the descriptors and its last process.
 */
import { closeSync, openSync, readlinkSync } from 'node:fs';
import type { SharedNetwork } from '../../contracts/commands.ts';
import { failure } from '../../contracts/failures.ts';
import { errnoCode } from '../errno-error.ts';
import type { SpawnedProcess, Spawner } from '../processes/spawned-process.ts';
import { numberIn } from './admit-process.ts';
import { kindOf, readOnly, type Words } from './bubblewrap-args.ts';

const NSENTER = ['/usr/bin/nsenter', '/bin/nsenter'];

/** What the sandbox keeps its network with, beside `--unshare-all`. */
export const KEEP_NETWORK: Words = ['--share-net'];

/** Undefined where it cannot be made or entered: then every command has a network of its own. */
export async function openSharedNetwork(spawner: Spawner, bubblewrap: string): Promise<SharedNetwork | undefined> {
  const nsenter = NSENTER.find((path) => kindOf(path) === 'file');
  if (nsenter === undefined) return undefined;
  const holder = await startHolder(spawner, bubblewrap);
  const opened: number[] = [];
  try {
    const pid = await holderReady(holder);
    if (pid === undefined) return undefined;
    opened.push(openSync(`/proc/${pid}/ns/net`, 'r'), openSync(`/proc/${pid}/ns/user`, 'r'));
    const [net = -1, user = -1] = opened;
    const identity = readlinkSync(`/proc/${pid}/ns/net`);
    if (identity === readlinkSync('/proc/self/ns/net')) throw new TypeError('Holder has no network of its own');
    // Root may enter any network; others only as the owner of the namespace that it belongs to.
    const asOwner = process.getuid?.() === 0 ? [] : [`--user=${placeOf(user)}`, '--preserve-credentials'];
    const words = [nsenter, `--net=${placeOf(net)}`, ...asOwner, '--'];
    if (!(await canEnter(spawner, [...words, ...trialWords(bubblewrap)]))) return undefined;
    const kept = opened.splice(0);
    return { words, identity, close: () => closeAll(kept) };
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    return undefined;
  } finally {
    closeAll(opened);
    holder.kill('SIGKILL');
    await holder.exited;
  }
}

/** Throws E_POLICY when the first process of a sandbox is in another network than it was to start in. */
export function verifyNetwork(init: number, network: SharedNetwork | undefined): boolean {
  if (network === undefined || readlinkSync(`/proc/${init}/ns/net`) === network.identity) return true;
  throw failure('isolation_failure', 'host_configuration_needed', 'Sandbox has another network than it was given', {
    details: { reason: 'network_changed', next: 'try again; if it happens again, report it' },
  });
}

/** Once: the numbers may be someone else's files by the next time. */
function closeAll(fds: number[]): void {
  for (const fd of fds.splice(0)) closeSync(fd);
}

function placeOf(fd: number): string {
  return `/proc/${process.pid}/fd/${fd}`;
}

const READY = 'ready';

function startHolder(spawner: Spawner, bubblewrap: string): Promise<SpawnedProcess> {
  const script = `echo ${READY}; read -r line`;
  return spawner.spawn({
    program: bubblewrap,
    args: [
      ...['--unshare-user', '--unshare-net', '--cap-drop', 'ALL', '--die-with-parent', ...readOnly('/')],
      ...['--json-status-fd', '3', '--', '/bin/sh', '-c', script],
    ],
    env: {},
    cwd: '/',
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'null',
    extraFds: ['pipe'],
  });
}

/** Its number, when its network is up. */
async function holderReady({ stdout, extra }: SpawnedProcess): Promise<number | undefined> {
  for await (const chunk of stdout ?? []) {
    if (!String(chunk).includes(READY)) continue;
    let report = '';
    for await (const part of extra[0] ?? []) {
      report += String(part);
      const pid = numberIn(report, 'child-pid');
      if (pid !== undefined) return pid;
    }
  }
  return undefined;
}

function trialWords(bubblewrap: string): Words {
  return [bubblewrap, '--unshare-all', '--unshare-user', ...KEEP_NETWORK, ...readOnly('/'), '--', '/bin/true'];
}

async function canEnter(spawner: Spawner, [program = '', ...args]: readonly string[]): Promise<boolean> {
  const ends = { stdin: 'null', stdout: 'null', stderr: 'null' } as const;
  const trial = await spawner.spawn({ program, args, env: {}, cwd: '/', ...ends });
  return (await trial.exited).code === 0;
}
