/** Routes about the whole host for people who look at it: live activity, the registry in force, figures over time. */
import { callsChangedSchema, metricsHistorySchema, registryViewSchema } from '@tool-runtime/protocol';
import { z } from 'zod';
import { missedText } from '../../dispatch/resume.ts';
import { viewRegistry } from '../../records/registry-view.ts';
import { frameOf } from '../../sessions/event-frame.ts';
import { defineRoute, type RouteAnswer } from '../route.ts';
import { lastEventId, openStream } from './events.ts';

/** Many who look at once cost little more than one. */
const SHARED_MS = 1000;

export const showRegistry = defineRoute({
  id: 'showRegistry',
  method: 'get',
  path: '/v1/registry',
  summary: 'The registry in force, value by value, each with the line it comes from',
  scope: 'audit',
  isHostWide: true,
  query: z.strictObject({ workspace: z.string().max(4096).exactOptional() }),
  answers: { 200: { description: 'The values', schema: registryViewSchema } },
  handle({ host, principal, query }) {
    const { runtime, name } = host.workspaceFor(principal, query.workspace);
    return { status: 200, json: viewRegistry(runtime.registry, name) };
  },
});

export const metricsHistory = defineRoute({
  id: 'metricsHistory',
  method: 'get',
  path: '/v1/metrics/history',
  summary: 'Figures of the last hour in steps of five seconds, and since the start',
  scope: 'read',
  isHostWide: true,
  answers: { 200: { description: 'Figures', schema: metricsHistorySchema } },
  async handle({ host }) {
    const make = async () => host.history.history();
    return { status: 200, text: await host.records.text('metrics', SHARED_MS, make) };
  },
});

export const activity = defineRoute({
  id: 'activity',
  method: 'get',
  path: '/v1/activity',
  summary: 'Events of every session as they happen (server-sent events)',
  scope: 'audit',
  isHostWide: true,
  query: z.strictObject({
    calls: z
      .enum(['true', 'false'])
      .default('false')
      .describe('`CallsChanged` then says which calls, as rows of GET /v1/calls: see the schema CallsChanged'),
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
      description:
        'A stream: `id` is the id of the event, `data` an EventMessage. Changes of status are left out; `CallsChanged` says, ' +
        'at most five times a second, that there are new records or that calls began or ended, and of those that came ' +
        'before a return only the newest is repeated, without calls. `RegistryChanged`: a workspace was opened anew with ' +
        'another registry or other approved tools',
      type: 'text/event-stream',
      data: callsChangedSchema,
    },
  },
  handle({ host, isWelcome, query, incoming, outgoing }): RouteAnswer {
    const after = query.after ?? lastEventId(incoming.headers['last-event-id']);
    const stream = openStream(outgoing, 'host', host);
    const leave = host.activity.listen(stream.send, { calls: query.calls === 'true' });
    if (after !== undefined) {
      const { frames, isComplete, firstId } = host.activity.after(after);
      const id = firstId - 1;
      if (!isComplete) stream.send(frameOf({ id, text: missedText('host', id, 'Older events are no longer kept') }));
      for (const frame of frames) stream.send(frame);
    }
    const goAway = (): void => void outgoing.end();
    host.goingAway.add(goAway);
    const beat = setInterval(() => {
      if (isWelcome()) outgoing.write(': beat\n\n');
      else outgoing.end();
    }, host.limits.heartbeatMs);
    outgoing.on('close', () => {
      clearInterval(beat);
      host.goingAway.delete(goAway);
      leave();
    });
    return 'sent';
  },
});
