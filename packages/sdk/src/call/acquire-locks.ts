/** Takes the write locks of a mutating call. Read-only calls take none. */
import type { JudgedCall } from './call-types.ts';
import type { SessionParts } from './session-parts.ts';

const NOTHING_HELD = (): void => {};

/** A mutating call that declares no paths may touch anything, so it excludes its like. */
const WHOLE_WORKSPACE = ['workspace'];

export function acquireLocks(call: JudgedCall, parts: SessionParts): Promise<() => void> | (() => void) {
  if (call.view.mutationClass === 'read_only') return NOTHING_HELD;
  return parts.locks.acquire({
    keys: lockKeys(call, parts),
    owner: { callId: call.open.callId, tool: call.view.tool, sessionId: call.open.sessionId },
    waitMs: parts.registry.limits.lock_wait_ms,
    // Read only when there is something to wait for.
    get signal() {
      return call.open.signal();
    },
  });
}

function lockKeys(call: JudgedCall, parts: SessionParts): readonly string[] {
  const { paths } = call.view;
  const declared = paths.length === 0 ? WHOLE_WORKSPACE : paths.flatMap((path) => parts.workspace.lockKeys(path));
  const { locks } = call.compiled.tool;
  return locks === undefined ? declared : [...declared, ...locks];
}
