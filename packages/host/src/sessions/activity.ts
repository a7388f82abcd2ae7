/**
 * The events of every session in one stream, for people who look at the whole host.
 *
 * Changes of status are many, so sessions report them only while there is a reader, and for a while after the last one left:
 * one that comes back with the id of its last event finds what it missed.
 */
import type { LoggedEvent } from './kept-messages.ts';
import { EventLog } from './kept-messages.ts';
import type { ServedSession } from './served-session.ts';

export interface Activity {
  readonly log: EventLog;
  /** Told by each session. */
  note(event: LoggedEvent): void;
  /** A new session reports in detail if there is a reader. */
  enter(session: ServedSession): void;
  listen(callback: (event: LoggedEvent) => void): () => void;
  close(): void;
}

const KEPT = 4096;
/** How long changes of status are kept up for a reader that may come back. */
const LINGER_MS = 60_000;

export function createActivity(sessions: () => Iterable<ServedSession>): Activity {
  const log = new EventLog(KEPT);
  const listeners = new Set<(event: LoggedEvent) => void>();
  let isWatched = false;
  let leaving: NodeJS.Timeout | undefined;

  function watch(wanted: boolean): void {
    if (wanted === isWatched) return;
    isWatched = wanted;
    for (const session of sessions()) session.watch(wanted);
  }

  return {
    log,
    note(event) {
      log.append(event);
      for (const listener of listeners) listener(event);
    },
    enter(session) {
      if (isWatched) session.watch(true);
    },
    listen(callback) {
      clearTimeout(leaving);
      listeners.add(callback);
      watch(true);
      return () => {
        if (!listeners.delete(callback) || listeners.size > 0) return;
        leaving = setTimeout(() => watch(false), LINGER_MS).unref();
      };
    },
    close: () => clearTimeout(leaving),
  };
}
