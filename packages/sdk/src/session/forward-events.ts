/** Lets a parent hear what its child does: each event in an envelope that says whose it was. Changes of status stay out. */
import type { JsonObject } from '@tool-runtime/protocol';
import type { EventBus } from '../events/event-bus.ts';

export function forwardEvents(events: EventBus, way: { readonly from: string; readonly to: string }): () => void {
  return events.listen(
    way.from,
    ({ id, message }) => {
      if (!events.hears(way.to, 'progress')) return;
      const data: JsonObject = {
        child_session_id: way.from,
        child_event: message.event,
        child_event_id: id,
        child_request_id: message.request_id,
        ...(message.data === undefined ? {} : { child_data: message.data }),
      };
      // The child's request ids are its own: under them the event would pass for one of the parent's calls.
      const { progress } = message;
      events.emit(way.to, { type: 'EventMessage', event: 'ChildEvent', request_id: way.from, progress, data });
    },
    { events: 'progress' },
  );
}
