/**
 * Events of one session as server-sent events. A reader that is slow loses events, is told how many, and may come back
 * with the id of the last one it saw; it costs no memory meanwhile.
 */
import type { ServerResponse } from 'node:http';
import { ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { eventsAfter, missedText, type WrittenEvent } from '../../dispatch/resume.ts';
import type { Host } from '../../sessions/create-host.ts';
import { type EventFrame, frameOf } from '../../sessions/event-frame.ts';
import { defineRoute, type RouteAnswer } from '../route.ts';

export const events = defineRoute({
  id: 'events',
  method: 'get',
  path: '/v1/events',
  summary: 'Events of a session as they happen (server-sent events)',
  scope: 'read',
  query: z.strictObject({
    session_id: z.string().exactOptional().describe('May be left out with the token of a session'),
    events: z.enum(['progress', 'all']).default('progress').describe('`all`: every change of status of a call too'),
    after: z.coerce
      .number()
      .int()
      .nonnegative()
      .exactOptional()
      .describe('As the header Last-Event-ID; counts before it'),
  }),
  headers: { 'Last-Event-ID': 'The id of the last event that was seen; events after it come first' },
  answers: {
    200: {
      description: 'A stream: `id` is the id of the event, `data` an EventMessage; it ends with the session',
      type: 'text/event-stream',
    },
    404: { description: 'No such session' },
  },
  handle({ host, principal, isWelcome, query, incoming, outgoing }): RouteAnswer {
    const id = query.session_id ?? principal.sessionId;
    if (id === undefined) throw noSession();
    const { served } = host.session(principal, id);
    const after = query.after ?? lastEventId(incoming.headers['last-event-id']);
    const stream = openStream(outgoing, served.id, host);
    const send = (event: WrittenEvent): void => stream.send(frameOf(event));
    const leave = served.listen(query.events, send, () => outgoing.end());
    if (after !== undefined) for (const event of eventsAfter(served, after, query.events)) send(event);
    const beat = setInterval(() => {
      if (isWelcome()) outgoing.write(': beat\n\n');
      else outgoing.end();
    }, host.limits.heartbeatMs);
    outgoing.on('close', () => {
      clearInterval(beat);
      leave();
    });
    return 'sent';
  },
});

export function openStream(outgoing: ServerResponse, sessionId: string, host: Host) {
  let missed = 0;
  outgoing.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-accel-buffering': 'no',
  });
  outgoing.write(': open\n\n');
  return {
    send({ id, bytes }: EventFrame): void {
      if (outgoing.writableLength > host.limits.maxUnsentBytes) {
        missed += 1;
        host.eventsMissed += 1;
        return;
      }
      if (missed > 0) {
        const before = id - 1;
        const said = `${missed} events were dropped because this reader was slow`;
        outgoing.write(frameOf({ id: before, text: missedText(sessionId, before, said, missed) }).bytes);
        missed = 0;
      }
      outgoing.write(bytes);
    },
  };
}

export function lastEventId(header: string | string[] | undefined): number | undefined {
  if (header === undefined) return undefined;
  const id = typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : Number.NaN;
  if (Number.isSafeInteger(id)) return id;
  throw new ToolError('E_VALIDATION_FAIL', 'Last-Event-ID is not the id of an event', {
    details: { reason: 'invalid_fields', next: 'send the id of the last event, or leave the header out' },
  });
}

function noSession(): ToolError {
  return new ToolError('E_VALIDATION_FAIL', 'Say which session', {
    path: 'session_id',
    details: { reason: 'invalid_fields', next: 'add ?session_id=, or use the token of the session' },
  });
}
