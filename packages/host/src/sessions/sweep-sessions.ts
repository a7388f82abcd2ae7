/** Looks once a second for sessions that fell silent. */
import type { HostLimits } from './host-limits.ts';
import { dueEnd, type HostSession } from './session-table.ts';

const SWEEP_MS = 1000;

/** Gives a function that stops it. */
export function sweepSessions(
  sessions: ReadonlyMap<string, HostSession>,
  { resumeMs }: Pick<HostLimits, 'resumeMs'>,
  end: (session: HostSession, reason: 'expired' | 'closed') => void,
): () => void {
  let sweptAt = performance.now();
  const sweeper = setInterval(() => {
    const now = performance.now();
    // When this process stood still, messages may lie unread: its own silence is not the client's.
    const stall = Math.max(0, now - sweptAt - SWEEP_MS);
    sweptAt = now;
    for (const session of sessions.values()) {
      const reason = dueEnd(session, now - stall, resumeMs);
      if (reason !== undefined) end(session, reason);
    }
  }, SWEEP_MS);
  sweeper.unref();
  return () => clearInterval(sweeper);
}
