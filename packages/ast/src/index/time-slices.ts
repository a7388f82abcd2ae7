/** Long work on the event loop in short slices: others get their turn, and a signal is heard. */
import { isToolError, ToolError } from '@tool-runtime/protocol';

const SLICE_MS = 3;

export interface TimeSlices {
  /** True when it is time to `await pause()`. */
  isDue(): boolean;
  /** Throws the signal's reason once it has fired. */
  pause(): Promise<void>;
}

export function slices(signal?: AbortSignal): TimeSlices {
  let end = performance.now() + SLICE_MS;
  return {
    isDue: () => performance.now() >= end,
    async pause() {
      await new Promise((resolve) => setImmediate(resolve));
      throwIfAborted(signal);
      end = performance.now() + SLICE_MS;
    },
  };
}

/** A reason that is no ToolError becomes the cause of one. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  if (isToolError(signal.reason)) throw signal.reason;
  throw new ToolError('E_INTERNAL', 'Indexing was cancelled', {
    details: { kind: 'cancellation', retry: 'retryable', reason: 'cancelled' },
    cause: signal.reason,
  });
}

/** Ends the wait when the signal fires; the work goes on without a waiter. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  throwIfAborted(signal);
  if (signal === undefined) return work;
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } catch (thrown) {
    throwIfAborted(signal);
    throw thrown;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
