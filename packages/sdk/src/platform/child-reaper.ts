/**
 * Notices when children started natively end.
 *
 * It asks about its own children by number and about no others, so Node's own children in the same process are left
 * to Node. The slow timer keeps the event loop alive while a child runs, and is there if a signal goes astray.
 */
import type { ExitStatus, NativeSpawn } from './native-spawn.ts';

export interface ChildReaper {
  watch(pid: number): Promise<ExitStatus>;
}

const LOOK_MS = 250;

export function createChildReaper(collect: NativeSpawn['collect']): ChildReaper {
  const waiting = new Map<number, (status: ExitStatus) => void>();
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    for (const [pid, settle] of waiting) {
      const status = collect(pid);
      if (status === undefined) continue;
      waiting.delete(pid);
      settle(status);
    }
    if (waiting.size === 0) rest();
  }
  function rest(): void {
    clearInterval(timer);
    timer = undefined;
    process.off('SIGCHLD', look);
  }
  return {
    watch(pid) {
      const { promise, resolve } = Promise.withResolvers<ExitStatus>();
      waiting.set(pid, resolve);
      if (timer === undefined) {
        process.on('SIGCHLD', look);
        timer = setInterval(look, LOOK_MS);
        // It may have ended before the signal had a listener.
        look();
      }
      return promise;
    },
  };
}
