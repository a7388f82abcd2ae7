/** Progress of one request: inside 0 to 100 and never backwards, whatever a tool reports. */
import type { EventMessage } from './from-host/event-message.ts';

export interface Progress {
  /** The `progress` field of the next event. A `pct` that is not a number keeps the last one. */
  advance(pct: number, message: string): EventMessage['progress'];
}

/** One per request. */
export function createProgress(): Progress {
  let reached = 0;
  return {
    advance(pct, message) {
      if (pct > reached) reached = Math.min(pct, 100);
      return { pct: reached, message };
    },
  };
}
