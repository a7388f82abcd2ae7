/**
 * Per-key write locks, first come first served.
 *
 * Keys are taken in sorted order, so two calls that need the same pair cannot deadlock. A waiter leaves the queue when
 * its time is up or its signal fires, and never runs afterwards. Without contention nothing is awaited.
 */
import { isToolError, ToolError } from '@tool-runtime/protocol';
import { cancellation } from '../contracts/failures.ts';
import type { LockOwner, LockTable } from '../contracts/locks.ts';

interface Waiter {
  readonly owner: LockOwner;
  readonly grant: () => void;
}

interface Lock {
  owner: LockOwner;
  readonly queue: Waiter[];
}

type Acquire = Parameters<LockTable['acquire']>[0];

export function createPathLocks(): LockTable {
  const locks = new Map<string, Lock>();

  function release(key: string): void {
    const lock = locks.get(key);
    const next = lock?.queue.shift();
    if (lock === undefined || next === undefined) {
      locks.delete(key);
      return;
    }
    lock.owner = next.owner;
    next.grant();
  }

  function tryTake(key: string, owner: LockOwner): boolean {
    if (locks.has(key)) return false;
    locks.set(key, { owner, queue: [] });
    return true;
  }

  function acquire(request: Acquire): Promise<() => void> | (() => void) {
    const keys = [...new Set(request.keys)].sort();
    const taken: string[] = [];
    const releaseAll = releaseOnce(taken, release);
    for (const key of keys) {
      if (!tryTake(key, request.owner)) return waitForRest({ keys, taken, request, releaseAll });
      taken.push(key);
    }
    return releaseAll;
  }

  async function waitForRest(state: {
    keys: readonly string[];
    taken: string[];
    request: Acquire;
    releaseAll: () => void;
  }): Promise<() => void> {
    const { keys, taken, request, releaseAll } = state;
    const deadline = performance.now() + request.waitMs;
    try {
      for (const key of keys.slice(taken.length)) {
        if (!tryTake(key, request.owner)) await waitFor(locks, key, request, deadline - performance.now());
        taken.push(key);
      }
      return releaseAll;
    } catch (error) {
      // Whatever was taken so far must not outlive a wait that failed.
      releaseAll();
      throw error;
    }
  }

  return {
    acquire,
    held: () => [...locks].map(([key, lock]) => ({ key, owner: lock.owner })),
  };
}

function releaseOnce(taken: string[], release: (key: string) => void): () => void {
  let released = false;
  return () => {
    if (released) return;
    released = true;
    for (const key of taken.splice(0).reverse()) release(key);
  };
}

function waitFor(locks: Map<string, Lock>, key: string, request: Acquire, waitMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const lock = locks.get(key);
    if (lock === undefined) throw new TypeError('waitFor needs a held lock');
    const leave = (error: ToolError): void => {
      stopWaiting();
      const at = lock.queue.indexOf(waiter);
      if (at !== -1) lock.queue.splice(at, 1);
      reject(error);
    };
    const timer = setTimeout(() => leave(lockTimedOut(lock.owner, request)), Math.max(0, waitMs));
    const onAbort = (): void => leave(waitEnded(lock.owner, request));
    const stopWaiting = (): void => {
      clearTimeout(timer);
      request.signal.removeEventListener('abort', onAbort);
    };
    const waiter: Waiter = {
      owner: request.owner,
      grant: () => {
        stopWaiting();
        resolve();
      },
    };
    lock.queue.push(waiter);
    if (request.signal.aborted) onAbort();
    else request.signal.addEventListener('abort', onAbort, { once: true });
  });
}

function lockTimedOut(owner: LockOwner, request: Acquire): ToolError {
  return new ToolError('E_TIMEOUT', `File is locked by another call: ${owner.tool} (${owner.callId})`, {
    details: {
      gate: 'locks',
      owner_call_id: owner.callId,
      owner_tool: owner.tool,
      owner_session_id: owner.sessionId,
      waited_for: 'locks',
      longest_wait_ms: request.waitMs,
      next: 'retry when that call has finished, or raise limits.lock_wait_ms',
    },
  });
}

/** The call's time was up before the longest wait for a lock was, or it was cancelled. */
function waitEnded(owner: LockOwner, request: Acquire): ToolError {
  const { reason } = request.signal;
  if (isToolError(reason) && reason.code === 'E_TIMEOUT') return lockTimedOut(owner, request);
  return cancellation('Call was cancelled while it waited for a lock', { details: { gate: 'locks' } });
}
