/** Takes the write locks of a mutating call. Read-only calls take none. */
import type { JudgedCall } from './state/call-types.ts';
import type { SessionParts } from './state/session-parts.ts';

const NOTHING_HELD = (): void => {};

/** A mutating call that declares no paths may touch anything, so it excludes its like. */
const WHOLE_WORKSPACE = ['workspace'];

export function acquireLocks(call: JudgedCall, parts: SessionParts): Promise<() => void> | (() => void) {
  if (call.view.mutationClass === 'read_only') return NOTHING_HELD;
  const taken = parts.locks.acquire({
    keys: lockKeys(call, parts),
    owner: { callId: call.open.callId, tool: call.view.tool, sessionId: call.open.sessionId },
    waitMs: parts.registry.limits.lock_wait_ms,
    // Read only when there is something to wait for.
    get signal() {
      return call.open.signal();
    },
  });
  return taken instanceof Promise ? countWait(taken, call, parts) : taken;
}

/** Only a lock that was not free at once is a promise; a wait that ends in a refusal was a wait too. */
async function countWait(
  taken: Promise<() => void>,
  call: JudgedCall,
  { metrics, clock, sessionId }: SessionParts,
): Promise<() => void> {
  const since = clock.monotonic();
  try {
    return await taken;
  } finally {
    metrics.lockWaited(sessionId, call.view.tool, clock.monotonic() - since);
  }
}

function lockKeys(call: JudgedCall, parts: SessionParts): readonly string[] {
  const { paths } = call.view;
  const { locks = [], writes } = call.compiled.tool;
  if (writes === 'unknown') return locks;
  const declared = paths.length === 0 ? WHOLE_WORKSPACE : paths.flatMap((path) => parts.workspace.lockKeys(path));
  return [...declared, ...locks];
}
