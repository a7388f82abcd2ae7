/**
 * Notices when children started natively end.
 *
 * It asks about its own children by number and about no others, so Node's own children in the same process are left
 * to Node. The slow timer keeps the event loop alive while a child runs that is not in the background, and is there if a signal goes astray.
 */
import type { ExitStatus, NativeSpawn } from './native-spawn.ts';

export interface ChildReaper {
  watch(pid: number, isBackground: boolean): Promise<ExitStatus>;
}

const LOOK_MS = 250;

export function createChildReaper(collect: NativeSpawn['collect']): ChildReaper {
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
