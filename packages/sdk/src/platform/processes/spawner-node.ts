/**
 * Starts processes by Node's own means, where the native ones are missing: the same behaviour, slower with a large host.
 *
 * Three differences remain inside. A link goes through the host, because Node makes no bare pipes. A descriptor the host
 * itself inherited cannot be marked to close, so each such number is covered with an empty device in the child. And a
 * gate is a socket, so a child that waits at it goes on when the host dies; the native one then waits for ever.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import type { ExitStatus } from './native-spawn.ts';
import {
  type ExtraFd,
  type InputSource,
  type Link,
  type OutputSink,
  type SpawnedProcess,
  type Spawner,
  type SpawnOptions,
  signalGroup,
} from './spawned-process.ts';

type Stdio = readonly ('pipe' | 'ignore' | number)[];

interface NodeLink extends Link {
  source: Readable | undefined;
}

export function createNodeSpawner(): Spawner {
  const inherited = inheritedDescriptors();
  return {
    backend: 'node',
    createLink: (): NodeLink => ({ source: undefined, close: () => {} }),
    async spawn(options) {
      const cover = openSync('/dev/null', 'r+');
      try {
        const child = startChild(options, coverInherited(stdioOf(options), inherited, cover));
        const exited = once(child, 'exit').then(([code, signal]): ExitStatus => ({ code, signal }));
        // A failed start rejects this too, and one report of it is enough.
        exited.catch(() => {});
        await untilStarted(child);
        if (options.background === true) child.unref();
        connectLinks(child, options);
        return started(child, options, exited);
      } finally {
        closeSync(cover);
      }
    },
  };
}

function startChild({ program, args, env, cwd }: SpawnOptions, stdio: Stdio): ChildProcess {
  return spawn(program, args, { argv0: program, env: { ...env }, cwd, stdio: [...stdio], detached: true });
}

async function untilStarted(child: ChildProcess): Promise<void> {
  for (const stream of child.stdio) stream?.on('error', () => {});
  try {
    await once(child, 'spawn');
  } catch (thrown) {
    for (const stream of child.stdio) stream?.destroy();
    throw thrown;
  }
}

function started(child: ChildProcess, options: SpawnOptions, exited: Promise<ExitStatus>): SpawnedProcess {
  const pid = child.pid ?? -1;
  const { stdin, stdout, stderr } = child;
  const streamsOf = (kind: ExtraFd) =>
    (options.extraFds ?? []).flatMap((fd, index) => (fd === kind ? [child.stdio[index + 3]] : []));
  const [gate] = streamsOf('gate') as Writable[];
  const [pause] = streamsOf('pause') as Writable[];
  const close = (stream: Writable) => () => void stream.destroy();
  return {
    pid,
    ...(options.stdin === 'pipe' && stdin !== null ? { stdin } : {}),
    ...(options.stdout === 'pipe' && stdout !== null ? { stdout } : {}),
    ...(options.stderr === 'pipe' && stderr !== null ? { stderr } : {}),
    extra: streamsOf('pipe') as Readable[],
    ...(gate === undefined ? {} : { gate: { open: () => void gate.end('1'), close: close(gate) } }),
    ...(pause === undefined ? {} : { pause: { open: close(pause), close: close(pause) } }),
    exited,
    kill: (signal) => signalGroup(pid, signal),
  };
}

function connectLinks({ stdin, stdout }: ChildProcess, options: SpawnOptions): void {
  if (typeof options.stdout === 'object' && stdout !== null) (options.stdout as NodeLink).source = stdout;
  if (typeof options.stdin !== 'object' || stdin === null) return;
  const { source } = options.stdin as NodeLink;
  // A reader that ended early ends its writer, as the kernel would.
  stdin.on('close', () => source?.destroy());
  source?.pipe(stdin);
}

function stdioOf(options: SpawnOptions): Stdio {
  return [options.stdin, options.stdout, options.stderr, ...(options.extraFds ?? [])].map(nodeStdio);
}

/** Above standard error `ignore` would leave the number as it is, open. */
function coverInherited(stdio: Stdio, inherited: readonly number[], cover: number): Stdio {
  const places = Math.max(stdio.length, ...inherited.map((fd) => fd + 1));
  return Array.from({ length: places }, (_, place) => stdio[place] ?? (inherited.includes(place) ? cover : 'ignore'));
}

function nodeStdio(end: InputSource | OutputSink | ExtraFd): Stdio[number] {
  if (end === 'null') return 'ignore';
  if (end === 'gate' || end === 'pause') return 'pipe';
  return typeof end === 'object' ? 'pipe' : end;
}

const CLOSES_ON_EXEC = 0o2000000;

function inheritedDescriptors(): number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number).filter(isInherited);
  } catch {
    // A system without /proc: what the host inherited, it inherited.
    return [];
  }
}

function isInherited(fd: number): boolean {
  if (fd <= 2) return false;
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1] ?? '0';
    return (Number.parseInt(flags, 8) & CLOSES_ON_EXEC) === 0;
  } catch {
    // Closed since the folder was listed: the descriptor of the listing itself.
    return false;
  }
}
