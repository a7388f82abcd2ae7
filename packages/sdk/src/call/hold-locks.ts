/**
 * The write locks of a mutating call; read-only calls take none.
 *
 * Before the locks go back, the tool loses what it was granted, so that a handler that still runs cannot change what the
 * next owner works on. A change that is under way is waited for, for a bounded time.
 */
import { ToolError } from '@tool-runtime/protocol';
import type { LockOwner } from '../contracts/locks.ts';
import type { AdmittedCall, JudgedCall, OpenCall } from './state/call-types.ts';
import type { Grant } from './state/change-log.ts';
import type { ResourceParts, SessionParts, WatchingParts } from './state/session-parts.ts';

const LONGEST_MS = 10_000;
const NOTHING_HELD = (): void => {};

/** A mutating call that declares no paths may touch anything, so it excludes its like. */
const WHOLE_WORKSPACE = ['workspace'];

export function acquireLocks(call: JudgedCall, parts: SessionParts): Promise<() => void> | (() => void) {
  if (call.mutationClass === 'read_only') return NOTHING_HELD;
  const taken = parts.locks.acquire(new Request(call, lockKeys(call, parts), parts.registry.limits.lock_wait_ms));
  return taken instanceof Promise ? countWait(taken, call, parts) : taken;
}

/** Its signal is made only when there is something to wait for. */
class Request {
  readonly keys: readonly string[];
  readonly owner: LockOwner;
  readonly waitMs: number;
  readonly #open: OpenCall;

  constructor({ open, subject }: JudgedCall, keys: readonly string[], waitMs: number) {
    this.keys = keys;
    this.owner = { callId: open.callId, tool: subject.tool, sessionId: open.sessionId };
    this.waitMs = waitMs;
    this.#open = open;
  }

  get signal(): AbortSignal {
    return this.#open.signal();
  }
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
    metrics.lockWaited(sessionId, call.subject.tool, clock.monotonic() - since);
  }
}

function lockKeys(call: JudgedCall, parts: ResourceParts): readonly string[] {
  const { paths } = call.subject;
  const { locks = [], writes } = call.compiled.tool;
  if (writes === 'unknown') return locks;
  const declared = paths.length === 0 ? WHOLE_WORKSPACE : paths.flatMap((path) => parts.workspace.lockKeys(path.value));
  return [...declared, ...locks];
}

export function releaseLocks(call: AdmittedCall, grant: Grant | undefined, parts: WatchingParts): void {
  grant?.revoke(() => callEnded(call));
  if (grant === undefined || grant.isIdle) {
    call.releaseLocks();
    return;
  }
  const release = (): void => {
    clearTimeout(timer);
    call.releaseLocks();
  };
  const timer = setTimeout(() => {
    parts.reportUnexpected(stuck(call));
    release();
  }, LONGEST_MS).unref();
  void grant.idle().then(release);
}

function callEnded({ subject }: AdmittedCall): ToolError {
  return new ToolError('E_TIMEOUT', `The call has ended, so its tool may not change anything: ${subject.tool}`, {
    details: {
      gate: 'grant',
      reason: 'call_ended',
      next: 'let the tool end with its signal, and await what it starts',
    },
  });
}

function stuck({ subject, open }: AdmittedCall): ToolError {
  return new ToolError('E_INTERNAL', `A change did not end ${LONGEST_MS} ms after its call: ${subject.tool}`, {
    details: { call_id: open.callId, next: 'look at the disk; the locks of the call were released' },
  });
}
