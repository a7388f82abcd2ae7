/** Starts processes by posix_spawn. Pipes are the kernel's own, and each end is closed where it is not used. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { errnoCode } from '../errno-error.ts';
import type { ExitStatus, NativeSpawn } from './native-spawn.ts';
import {
  type ExtraFd,
  type Gate,
  type InputSource,
  type Link,
  type OutputSink,
  type SpawnedProcess,
  type Spawner,
  type SpawnOptions,
  signalGroup,
} from './spawned-process.ts';

interface NativeLink extends Link {
  readonly reader: number;
  readonly writer: number;
}

/** The descriptors of one start: what the child gets, what the host keeps, what only the child needed. */
interface Ends {
  readonly descriptors: number[];
  readonly kept: number[];
  readonly handedOver: number[];
}

export function createNativeSpawner(native: NativeSpawn): Spawner {
  const reaper = createChildReaper(native.collect);
  const turn = createStartTurns();
  return {
    backend: 'native',
    createLink: () => openLink(native),
    async spawn(options) {
      await turn();
      const ends: Ends = { descriptors: [], kept: [], handedOver: [] };
      try {
        const host = connect(options, ends, native);
        const pid = native.start({
          program: options.program,
          argv: [options.program, ...options.args].map(withoutNul),
          envp: Object.entries(options.env).map(([name, value]) => withoutNul(`${name}=${value}`)),
          cwd: options.cwd,
          descriptors: ends.descriptors,
        });
        return {
          pid,
          ...openStreams(host, options),
          exited: reaper.watch(pid, options.background === true),
          kill: (signal) => signalGroup(pid, signal),
        };
      } catch (thrown) {
        ends.kept.forEach(closeSync);
        throw thrown;
      } finally {
        ends.handedOver.forEach(closeSync);
      }
    },
  };
}

/** A start holds the event loop until the program is loaded: of many asked for at once, one in each of its turns. */
function createStartTurns(): () => Promise<void> {
  let isTaken = false;
  return async () => {
    while (isTaken) await nextTurn();
    isTaken = true;
    setImmediate(() => {
      isTaken = false;
    });
  };
}

interface HostEnds {
  readonly stdin: number | undefined;
  readonly stdout: number | undefined;
  readonly stderr: number | undefined;
  readonly extra: readonly number[];
  readonly gate: number | undefined;
  readonly pause: number | undefined;
}

function connect(options: SpawnOptions, ends: Ends, native: NativeSpawn): HostEnds {
  const stdin = connectInput(options.stdin, ends, native);
  const stdout = connectOutput(options.stdout, ends, native);
  const stderr = connectOutput(options.stderr, ends, native);
  const extra = (options.extraFds ?? []).map((kind) => ({
    kind,
    fd: connectExtra(kind, ends, native),
  }));
  const waitedAt = (wanted: 'gate' | 'pause') => extra.find(({ kind }) => kind === wanted)?.fd;
  return {
    ...{ stdin, stdout, stderr },
    extra: extra.flatMap(({ kind, fd }) => (kind === 'pipe' && fd !== undefined ? [fd] : [])),
    gate: waitedAt('gate'),
    pause: waitedAt('pause'),
  };
}

function connectExtra(kind: ExtraFd, ends: Ends, native: NativeSpawn): number | undefined {
  if (kind === 'gate') return connectGate(ends, native);
  return kind === 'pause' ? connectInput('pipe', ends, native) : connectOutput(kind, ends, native);
}

/** The child's end is open for writing too: when the host dies there is no end of file that would let the child go on. */
function connectGate(ends: Ends, native: NativeSpawn): number {
  const { reader, writer } = native.pipe();
  ends.kept.push(writer);
  ends.handedOver.push(reader);
  const both = openSync(`/proc/self/fd/${reader}`, 'r+');
  ends.handedOver.push(both);
  ends.descriptors.push(both);
  return writer;
}

function connectInput(source: InputSource, ends: Ends, native: NativeSpawn): number | undefined {
  if (source !== 'pipe') return connectGiven(typeof source === 'object' ? readerOf(source) : source, ends);
  const { reader, writer } = native.pipe();
  ends.kept.push(writer);
  ends.handedOver.push(reader);
  ends.descriptors.push(reader);
  return writer;
}

function connectOutput(sink: OutputSink, ends: Ends, native: NativeSpawn): number | undefined {
  if (sink !== 'pipe') return connectGiven(typeof sink === 'object' ? writerOf(sink) : sink, ends);
  const { reader, writer } = native.pipe();
  ends.kept.push(reader);
  ends.handedOver.push(writer);
  ends.descriptors.push(writer);
  return reader;
}

function connectGiven(given: number | 'null', ends: Ends): undefined {
  if (given === 'null') ends.handedOver.push(openSync('/dev/null', 'r+'));
  ends.descriptors.push(given === 'null' ? (ends.handedOver.at(-1) ?? -1) : given);
}

function openStreams({ stdin, stdout, stderr, extra, gate, pause }: HostEnds, { readsOnDemand }: SpawnOptions) {
  return {
    ...(gate === undefined ? {} : { gate: createGate(gate, '1') }),
    ...(pause === undefined ? {} : { pause: createGate(pause, '') }),
    ...(stdin === undefined ? {} : { stdin: openStream(stdin, 'write') }),
    ...(stdout === undefined ? {} : { stdout: openStream(stdout, 'read', readsOnDemand) }),
    ...(stderr === undefined ? {} : { stderr: openStream(stderr, 'read') }),
    extra: extra.map((fd) => openStream(fd, 'read')),
  } satisfies Partial<SpawnedProcess>;
}

function openStream(fd: number, use: 'read' | 'write', isOnDemand = false): Socket {
  const ahead = isOnDemand ? { highWaterMark: 1 } : {};
  const stream = new Socket({ fd, readable: use === 'read', writable: use === 'write', ...ahead });
  return stream.on('error', () => {});
}

function createGate(fd: number, word: string): Gate {
  let isOpen = true;
  const close = (): void => {
    if (isOpen) closeSync(fd);
    isOpen = false;
  };
  return {
    open() {
      try {
        if (isOpen && word !== '') writeSync(fd, word);
      } catch (thrown) {
        // The child has ended; its exit says how.
        if (errnoCode(thrown) !== 'EPIPE') throw thrown;
      } finally {
        close();
      }
    },
    close,
  };
}

function openLink(native: NativeSpawn): NativeLink {
  const { reader, writer } = native.pipe();
  return {
    reader,
    writer,
    close() {
      closeSync(reader);
      closeSync(writer);
    },
  };
}

function readerOf(link: Link): number {
  return (link as NativeLink).reader;
}

function writerOf(link: Link): number {
  return (link as NativeLink).writer;
}

/** The rest of such a text would silently be lost: C ends it there. */
function withoutNul(text: string): string {
  if (text.includes('\0')) throw new TypeError('Argument or environment value holds a NUL character');
  return text;
}

interface ChildReaper {
  watch(pid: number, isBackground: boolean): Promise<ExitStatus>;
}

const LOOK_MS = 250;

/**
 * Notices when children started natively end. It asks about its own children by number, so Node's own children in the
 * same process are left to Node. The slow timer keeps the event loop alive while a child runs that is not in the
 * background, and helps when a signal is lost.
 */
function createChildReaper(collect: NativeSpawn['collect']): ChildReaper {
  const waiting = new Map<number, { readonly settle: (status: ExitStatus) => void; readonly isBackground: boolean }>();
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    for (const [pid, { settle }] of waiting) {
      const status = collect(pid);
      if (status === undefined) continue;
      waiting.delete(pid);
      settle(status);
    }
    if (waiting.size === 0) rest();
    else attend();
  }
  /** Children in the background hold nothing: neither the event loop nor a listener. */
  function attend(): void {
    const isNeeded = [...waiting.values()].some(({ isBackground }) => !isBackground);
    process.off('SIGCHLD', look);
    if (isNeeded) process.on('SIGCHLD', look);
    if (isNeeded) timer?.ref();
    else timer?.unref();
  }
  function rest(): void {
    clearInterval(timer);
    timer = undefined;
    process.off('SIGCHLD', look);
  }
  return {
    watch(pid, isBackground) {
      const { promise, resolve } = Promise.withResolvers<ExitStatus>();
      waiting.set(pid, { settle: resolve, isBackground });
      timer ??= setInterval(look, LOOK_MS);
      attend();
      // It may have ended before the signal had a listener.
      look();
      return promise;
    },
  };
}
