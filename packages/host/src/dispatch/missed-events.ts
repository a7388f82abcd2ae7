/** The marker in a stream of events where some are missing. */
import { reply } from './dispatch.ts';

/** `id` lies just before the first event that follows, so that a resume after the marker starts with that one. */
export function missedText(sessionId: string, id: number, message: string, missed?: number): string {
  return reply({
    type: 'EventMessage',
    event: 'EventsMissed',
    request_id: sessionId,
    session_id: sessionId,
    id: Math.max(0, id),
    progress: { pct: 0, message },
    ...(missed === undefined ? {} : { data: { missed } }),
  }).text;
}
