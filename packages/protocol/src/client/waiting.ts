/** Waiting in the client: pauses, timers, and promises that a signal ends. */

export type IdleTimer = ReturnType<typeof setTimeout>;

/** Waits this long, or until the signal is aborted. Never rejects. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, milliseconds);
    signal?.addEventListener('abort', finish, { once: true });
  });
}

/** A timer that does not keep a Node process alive: it matters only while something else runs. */
export function idleTimer(callback: () => void, milliseconds: number): IdleTimer {
  const timer = setTimeout(callback, milliseconds);
  // Browsers give a number, which has nothing to switch off.
  (timer as unknown as { unref?: () => void }).unref?.();
  return timer;
}

/** The promise, or a rejection with `reason()` as soon as the signal is aborted. */
export function unlessAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal | undefined,
  reason: () => unknown,
): Promise<Value> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(reason());
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
