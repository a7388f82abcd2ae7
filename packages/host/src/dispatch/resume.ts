/** What a client that comes back is owed: the events it missed, and the answers it still waits for. */
import type { SessionAttach } from '@tool-runtime/protocol';
import type { LoggedEvent } from '../sessions/kept-messages.ts';
import { errorAnswer, lostAnswer } from '../sessions/refusals.ts';
import type { EventDetail, ServedSession } from '../sessions/served-session.ts';
import { reply } from './dispatch.ts';

export interface ResumeOrder {
  /** To send now, in this order. */
  readonly texts: readonly string[];
  /** Requests that still run. */
  readonly awaited: readonly (readonly [string, Promise<{ readonly text: string }>])[];
}

export type WrittenEvent = Pick<LoggedEvent, 'id' | 'text'>;

/** `following`: requests whose answer goes out on this connection anyway. */
export function resumeOrder(served: ServedSession, attach: SessionAttach, following: ReadonlySet<string>): ResumeOrder {
  const events = attach.after === undefined ? [] : eventsAfter(served, attach.after, attach.events ?? 'progress');
  const texts = events.map(({ text }) => text);
  const awaited: (readonly [string, Promise<{ readonly text: string }>])[] = [];
  for (const requestId of new Set(attach.pending ?? [])) {
    if (following.has(requestId)) continue;
    const running = served.whenAnswered(requestId);
    if (running !== undefined) awaited.push([requestId, running]);
    else texts.push(finishedText(served, requestId));
  }
  return { texts, awaited };
}

/** With a marker in front when some in between are no longer kept. */
export function eventsAfter(served: ServedSession, after: number, detail: EventDetail): readonly WrittenEvent[] {
  const { events, isComplete } = served.events.after(after);
  const wanted = detail === 'all' ? events : events.filter(({ event }) => event !== 'CallStatusChanged');
  if (isComplete) return wanted;
  const id = (events[0]?.id ?? served.events.lastId + 1) - 1;
  return [{ id, text: missedText(served.id, id, 'Older events are no longer kept') }, ...wanted];
}

function finishedText(served: ServedSession, requestId: string): string {
  const answer = served.answerOf(requestId);
  if (typeof answer === 'object') return answer.text;
  return JSON.stringify(errorAnswer(lostAnswer(served, requestId), requestId));
}

/**
 * The marker in a stream of events where some are missing.
 *
 * `id` lies just before the first event that follows, so that a resume after the marker starts with that one.
 */
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
