/**
 * Ends every process started here when the host dies, even if nothing of ours ever starts again.
 *
 * All of them inherit one descriptor, the mark: a file without a name that no other process has open. A child has it from the
 * moment it exists, so there is no gap between its start and our knowing of it; bubblewrap holds it in the first process
 * of each sandbox (`--sync-fd`), where no program can close it. A small shell waits for the end of a pipe that only the
 * host can write to, and then kills each process that has the mark or is in a session that a process of ours leads. That
 * bubblewrap dies with its parent is not enough: it says so to the kernel only after it has begun.
 */

import { randomUUID } from 'node:crypto';
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errnoCode } from '../errno-error.ts';
import { O_TMPFILE } from '../open-flags.ts';
import type { SpawnedProcess, Spawner } from './spawned-process.ts';

/** Same processes, each with the mark as the last of its descriptors. */
export function keepingProcesses(spawner: Spawner): Spawner {
  const keeper = createKeeper(spawner);
  return {
    ...spawner,
    async spawn(options) {
      const mark = await keeper.hold();
      try {
        const started = await spawner.spawn({ ...options, extraFds: [...(options.extraFds ?? []), mark] });
        keeper.tell(`+${started.pid}`);
        const letGo = (): void => {
          keeper.tell(`-${started.pid}`);
          keeper.release();
        };
        started.exited.then(letGo, letGo);
        return started;
      } catch (thrown) {
        keeper.release();
        throw thrown;
      }
    },
  };
}

/** Where bubblewrap finds the mark after `count` other descriptors. */
export function markWords(count: number): readonly string[] {
  return ['--sync-fd', String(3 + count)];
}

/** Without work it goes, so that a host that starts nothing has nothing running beside it. */
const LINGER_MS = 5000;

/** Reads until the end of its input. `q`: nothing is left to watch. A host that ends in order closes the pipe first. */
const SCRIPT = `
trap '' HUP INT TERM
host=$PPID leaders=' '
while read -r word; do
  pid=\${word#?}
  case $word in
    q) exit 0 ;;
    +*) leaders="$leaders$pid " ;;
    -*) case $leaders in *" $pid "*) leaders="\${leaders%% $pid *} \${leaders#* $pid }" ;; esac ;;
  esac
done
round=0 idle=0
while [ $idle -lt 3 ] && [ $round -lt 300 ]; do
  round=$((round + 1)) idle=$((idle + 1))
  for folder in /proc/[0-9]*; do
    pid=\${folder#/proc/}
    case $pid in $$ | "$host") continue ;; esac
    read -r stat < "$folder/stat" || continue
    set -- \${stat##*) }
    hit=
    case $1 in Z | X) continue ;; esac
    case $leaders in *" $4 "*) hit=1 ;; esac
    if [ -z "$hit" ]; then
      for fd in "$folder"/fd/*; do
        [ "$fd" -ef /proc/$$/fd/3 ] && hit=1 && break
      done
    fi
    [ -n "$hit" ] && kill -9 "$pid" && idle=0
  done
  sleep 0.1
done
`;

interface Keeper {
  /** The mark, while the watcher runs. Each call is followed by one release. */
  hold(): Promise<number>;
  release(): void;
  tell(word: string): void;
}

interface Watch {
  readonly mark: number;
  readonly process: SpawnedProcess;
  isOver: boolean;
}

function createKeeper(spawner: Spawner): Keeper {
  let watch: Promise<Watch> | undefined;
  let current: Watch | undefined;
  let holders = 0;
  let timer: NodeJS.Timeout | undefined;

  async function begin(mark: number): Promise<Watch> {
    const process = await spawner.spawn({
      program: '/bin/sh',
      args: ['-c', SCRIPT],
      env: { PATH: '/usr/bin:/bin' },
      ...{ cwd: '/', stdin: 'pipe', stdout: 'null', stderr: 'null', extraFds: [mark], background: true },
    });
    const begun: Watch = { mark, process, isOver: false };
    process.exited.then(() => {
      begun.isOver = true;
    });
    current = begun;
    return begun;
  }

  /** One that was killed is replaced, with the same mark: those it watched have it. */
  async function renew(before: Promise<Watch> | undefined): Promise<Watch> {
    const last = await before?.catch(() => undefined);
    if (last?.isOver === false) return last;
    if (last !== undefined) return begin(last.mark);
    const mark = openMark();
    try {
      return await begin(mark);
    } catch (thrown) {
      closeSync(mark);
      throw thrown;
    }
  }

  function end(): void {
    if (holders > 0 || current === undefined) return;
    current.process.stdin?.end('q\n');
    closeSync(current.mark);
    current = undefined;
    watch = undefined;
  }

  return {
    async hold() {
      holders += 1;
      clearTimeout(timer);
      try {
        watch = renew(watch);
        return (await watch).mark;
      } catch (thrown) {
        holders -= 1;
        watch = undefined;
        throw thrown;
      }
    },
    release() {
      holders -= 1;
      clearTimeout(timer);
      if (holders === 0) timer = setTimeout(end, LINGER_MS).unref();
    },
    tell: (word) => void current?.process.stdin?.write(`${word}\n`),
  };
}

/** Not every file system has files without a name: there it has one for a moment. */
function openMark(): number {
  try {
    return openSync(tmpdir(), O_TMPFILE | constants.O_RDWR, 0o600);
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
    const path = join(tmpdir(), `tool-runtime-mark-${randomUUID()}`);
    const fd = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
    return fd;
  }
}
