/**
 * Overlays over one workspace, for commands whose effects are to be looked at before they are real.
 *
 * A shell in its own user and mount namespace (unshare) mounts them on request, which takes no privilege; it lives as long
 * as the session and ends with the host, because it reads from a pipe. Commands start in its namespace (nsenter), so all
 * processes of one command list share one overlay. Layers are named by descriptors: no path has to be spelled in the
 * options of a mount, and the workspace is the folder that was held.
 */
import { chmodSync, closeSync, fstatSync, openSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { createInterface, type Interface } from 'node:readline';
import type { ToolError } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import type { HeldWorkspace, SharedNetwork, WorkspaceOverlay } from '../../contracts/commands.ts';
import { failure } from '../../contracts/failures.ts';
import { loadNativeCalls, type NativeCalls } from '../descriptors/native-calls.ts';
import { identityOf } from '../descriptors/root.ts';
import { errnoCode } from '../errno-error.ts';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import type { SpawnedProcess, Spawner } from '../processes/spawned-process.ts';
import { kindOf } from '../sandbox/bubblewrap-args.ts';
import { makeOverlayFolder, makeOverlaysFolder, removeOverlayFolder, sweepOverlays } from './overlay-folders.ts';

export interface OverlayOptions {
  readonly workspace: HeldWorkspace;
  readonly spawner: Spawner;
  /** The state folder. */
  readonly state: string;
}

export interface MountedOverlay extends WorkspaceOverlay {
  /** What was written. Absolute. */
  readonly upper: string;
  /** What reads the attributes in it. */
  readonly native: NativeCalls;
  /** When it was mounted, by the clock of the file system. */
  readonly sinceNs: bigint;
  /** An overlay that shows what this one shows; what is written on it goes with it. */
  cover(): Promise<MountedOverlay>;
  /** Unmounts it: from then on what was written may be moved elsewhere. To be called when no process uses it any more. */
  unmount(): Promise<void>;
  /** The same, and removes what it holds. */
  release(): Promise<void>;
}

export interface Overlays {
  /** Throws E_POLICY (`no_overlay`) where this machine gives none. */
  mount(network?: SharedNetwork): Promise<MountedOverlay>;
  close(): Promise<void>;
}

const UNSHARE = ['/usr/bin/unshare', '/bin/unshare'];
const NSENTER = ['/usr/bin/nsenter', '/bin/nsenter'];
const SHELL = '/bin/sh';

/** Arguments: the workspace, and the folder of the overlays. Reads one request on each line and answers each on one. */
const SCRIPT = `
exec 3<"$1" || exit 1
echo ready
while read -r word id below; do
  if [ "$word" = mount ]; then
    layers=lowerdir=/proc/self/fd/3 under="$2/$id/upper"
    if [ -n "$below" ]; then layers=lowerdir=/proc/self/fd/6:/proc/self/fd/3 under="$2/$below/upper"; fi
    if said=$(mount -i -n -t overlay overlay -o "$layers,$3" "$2/$id/merged" 4<"$2/$id/upper" 5<"$2/$id/work" 6<"$under" 2>&1)
    then echo mounted
    else echo failed $said; fi
  else umount -l "$2/$id/merged" 2>&1; echo unmounted
  fi
done
`;
/** With userxattr folders are not renamed by reference: a command that moves one copies it, and the upper layer holds it all. */
const LAYERS = 'upperdir=/proc/self/fd/4,workdir=/proc/self/fd/5,userxattr,volatile';
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin';

export function createOverlays(options: OverlayOptions): Overlays {
  let holder: Promise<Holder> | undefined;
  let within: SharedNetwork | undefined;
  const open = (network: SharedNetwork | undefined): Promise<Holder> => {
    if (holder !== undefined && within === network) return holder;
    const former = holder;
    within = network;
    holder = startHolder(options, network);
    // A network that came later: overlays that are mounted still need the former one until they are released.
    former?.then((old) => old.close()).catch(() => {});
    holder.catch(() => {
      holder = undefined;
    });
    return holder;
  };
  return {
    async mount(network) {
      const found = await open(network);
      if (!found.isOver()) return found.mount();
      holder = undefined;
      return (await open(network)).mount();
    },
    async close() {
      const opened = await holder?.catch(() => undefined);
      holder = undefined;
      await opened?.close();
    },
  };
}

interface Holder {
  isOver(): boolean;
  mount(): Promise<MountedOverlay>;
  /** Ends when the last overlay was released. */
  close(): Promise<void>;
}

async function startHolder(
  { workspace, spawner, state }: OverlayOptions,
  network: SharedNetwork | undefined,
): Promise<Holder> {
  const [unshare, nsenter] = [UNSHARE, NSENTER].map((places) => places.find((path) => kindOf(path) === 'file'));
  if (unshare === undefined || nsenter === undefined) throw noOverlay('util-linux (unshare, nsenter) is not installed');
  const native = loadNativeCalls();
  if (native === undefined) throw noOverlay('the koffi package is not installed');
  await sweepOverlays(state);
  const folder = makeOverlaysFolder(state);
  const words = [unshare, '--user', '--map-root-user', '--mount', '--propagation', 'slave', SHELL, '-c', SCRIPT, 'sh'];
  const [program = '', ...args] = [...(network?.words ?? []), ...words, workspace.path, folder, LAYERS];
  const ends = { stdin: 'pipe', stdout: 'pipe', stderr: 'null' } as const;
  const shell = await spawner.spawn({ program, args, env: { PATH, LC_ALL: 'C' }, cwd: '/', ...ends, background: true });
  const conversation = converse(shell);
  const opened: number[] = [];
  const end = async (): Promise<void> => {
    for (const fd of opened.splice(0)) closeSync(fd);
    shell.kill('SIGKILL');
    await awake(shell.exited);
    await removeOverlayFolder(folder.slice(0, folder.lastIndexOf('/')), folder.slice(folder.lastIndexOf('/') + 1));
  };
  try {
    if ((await conversation.next()) !== 'ready') throw noOverlay('a user and mount namespace cannot be made');
    requireSame(shell.pid, workspace);
    for (const kind of ['user', 'mnt']) opened.push(openSync(`/proc/${shell.pid}/ns/${kind}`, 'r'));
    const [user, mount] = opened.map((fd) => `/proc/${process.pid}/fd/${fd}`);
    const enter = [nsenter, `--user=${user}`, '--preserve-credentials', `--mount=${mount}`, '--'];
    await requireEntrance(spawner, [...(network?.words ?? []), ...enter]);
    return holderOf({ workspace, native, shell, conversation, folder, enter, end });
  } catch (thrown) {
    await end();
    throw thrown;
  }
}

/** A process that changed its user may not be looked into by its own children. */
async function requireEntrance(spawner: Spawner, [program = '', ...args]: readonly string[]): Promise<void> {
  const ends = { stdin: 'null', stdout: 'null', stderr: 'null' } as const;
  const trial = await spawner.spawn({ program, args: [...args, '/bin/true'], env: {}, cwd: '/', ...ends });
  if ((await trial.exited).code !== 0) throw noOverlay('its mount namespace cannot be entered');
}

interface Held {
  readonly native: NativeCalls;
  readonly workspace: HeldWorkspace;
  readonly shell: SpawnedProcess;
  readonly conversation: Conversation;
  readonly folder: string;
  readonly enter: readonly string[];
  end(): Promise<void>;
}

function holderOf({ workspace, native, shell, conversation, folder, enter, end }: Held): Holder {
  let count = 0;
  let mounted = 0;
  let isClosing = false;
  let ending: Promise<void> | undefined;
  const endWhenFree = (): Promise<void> => {
    if (isClosing && mounted === 0) ending ??= end();
    return ending ?? Promise.resolve();
  };
  const prepare = async (below = ''): Promise<string> => {
    const name = String(++count);
    makeOverlayFolder(folder, name, rootMode(workspace));
    const answer = await conversation.ask(`mount ${name} ${below}`);
    if (answer === 'mounted') return name;
    await removeOverlayFolder(folder, name);
    throw noOverlay(answer?.replace(/^failed /, '').replaceAll(folder, '') ?? 'the helper that mounts it ended');
  };
  /** Mounted while the command before it runs: mounting takes longer than starting a command. */
  let spare: Promise<string> | undefined;
  const mount = async (below?: string): Promise<MountedOverlay> => {
    mounted += 1;
    const remove = async (name: string | undefined): Promise<void> => {
      if (name !== undefined) await removeOverlayFolder(folder, name);
      mounted -= 1;
      await endWhenFree();
    };
    const ready = below === undefined ? (spare ?? prepare()) : prepare(below);
    if (below === undefined) spare = undefined;
    const name = await ready.catch(async (thrown) => {
      await remove(undefined);
      throw thrown;
    });
    if (!isClosing && below === undefined) {
      spare = prepare();
      spare.catch(() => {});
    }
    const place = `${folder}/${name}`;
    // From here on a change of the workspace is one that the command may not have seen.
    chmodSync(`${place}/upper`, rootMode(workspace));
    const sinceNs = statSync(`${place}/upper`, { bigint: true }).ctimeNs;
    const path = `${place}/merged`;
    let isReleased = false;
    let unmounting: Promise<unknown> | undefined;
    const unmount = async (): Promise<void> => {
      unmounting ??= conversation.ask(`unmount ${name}`);
      await unmounting;
    };
    return {
      words: enter,
      path,
      upper: `${place}/upper`,
      sinceNs,
      native,
      cover: () => mount(name),
      open: () => openSync(`/proc/${shell.pid}/root${path}`, DIRECTORY_HANDLE),
      unmount,
      async release() {
        if (isReleased) return;
        isReleased = true;
        await unmount();
        await remove(name);
      },
    };
  };
  return {
    isOver: () => conversation.isOver(),
    mount: () => mount(),
    async close() {
      isClosing = true;
      await spare?.catch(() => {});
      await endWhenFree();
    },
  };
}

function rootMode({ path }: HeldWorkspace): number {
  return statSync(path).mode & 0o777;
}

/** The shell opened the workspace by its path: it must be the folder that is held. */
function requireSame(pid: number, workspace: HeldWorkspace): void {
  const fd = workspace.open();
  try {
    const held = identityOf(fstatSync(fd, { bigint: true }));
    if (identityOf(statSync(`/proc/${pid}/fd/3`, { bigint: true })) === held) return;
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
  } finally {
    closeSync(fd);
  }
  throw noOverlay('the workspace is no longer at its path');
}

interface Conversation {
  isOver(): boolean;
  /** Undefined when the shell has ended. */
  next(): Promise<string | undefined>;
  ask(line: string): Promise<string | undefined>;
}

/** Questions are answered in their order. */
function converse({ stdin, stdout }: SpawnedProcess): Conversation {
  const waiting: ((line: string | undefined) => void)[] = [];
  let isOver = stdout === undefined;
  const lines: Interface | undefined = stdout && createInterface({ input: stdout });
  // A program that never closes its session can still end.
  for (const stream of [stdin, stdout]) if (stream instanceof Socket) stream.unref();
  lines?.on('line', (line) => waiting.shift()?.(line));
  lines?.on('close', () => {
    isOver = true;
    for (const answer of waiting.splice(0)) answer(undefined);
  });
  const next = (): Promise<string | undefined> =>
    isOver ? Promise.resolve(undefined) : awake(new Promise((resolve) => waiting.push(resolve)));
  return {
    isOver: () => isOver,
    next,
    ask(line) {
      const answer = next();
      stdin?.write(`${line}\n`);
      return answer;
    },
  };
}

const LONG_MS = 60_000;

/** The shell does not keep the host alive; waiting for it does. */
async function awake<T>(waited: Promise<T>): Promise<T> {
  const timer = setInterval(() => {}, LONG_MS);
  try {
    return await waited;
  } finally {
    clearInterval(timer);
  }
}

export function noOverlay(problem: string): ToolError {
  return failure(
    'isolation_failure',
    'host_configuration_needed',
    `Commands cannot run on an overlay: ${safeText(problem, 300)}`,
    {
      details: {
        reason: 'no_overlay',
        next: 'use effects: direct, or a Linux kernel 5.11 or later that lets users mount overlays, with the state folder on ext4, XFS or Btrfs',
      },
    },
  );
}
