/**
 * The events of every session in one stream, for people who look at the whole host.
 *
 * Changes of status would be several for each call, so they are not among them. Instead readers hear a few times a second that
 * the journal has grown or calls have begun or ended, whatever the number of calls: watching must not slow down the work.
 */
import { EventLog, type LoggedEvent } from './kept-messages.ts';
import type { Work } from './served-calls.ts';

export interface Activity {
  readonly log: EventLog;
  /** Told by each session. */
  note(event: LoggedEvent): void;
  /** An event about the host itself. */
  announce(event: string, data: object): void;
  listen(callback: (event: LoggedEvent) => void): () => void;
  close(): void;
}

export interface ActivitySource {
  readonly nextEventId: () => number;
  readonly work: () => Work;
  /** Another number when journals have grown. */
  readonly journalMark: () => number;
}

const KEPT = 4096;
const EVERY_MS = 100;

export function createActivity({ nextEventId, work, journalMark }: ActivitySource): Activity {
  const log = new EventLog(KEPT);
  const listeners = new Set<(event: LoggedEvent) => void>();
  let timer: NodeJS.Timeout | undefined;
  let last = '';

  function note(event: LoggedEvent): void {
    log.append(event);
    for (const listener of listeners) listener(event);
  }

  function announce(event: string, data: object): void {
    const id = nextEventId();
    const message = { type: 'EventMessage', event, request_id: 'host', session_id: 'host', id };
    const text = JSON.stringify({ ...message, progress: { pct: 0, message: '' }, data });
    note({ id, event, requestId: 'host', text });
  }

  function look(): void {
    const { running, waiting } = work();
    const current = `${journalMark()} ${running} ${waiting}`;
    if (current === last) return;
    last = current;
    announce('CallsChanged', { running, waiting });
  }

  return {
    log,
    note,
    announce,
    listen(callback) {
      listeners.add(callback);
      timer ??= setInterval(look, EVERY_MS).unref();
      return () => {
        if (!listeners.delete(callback) || listeners.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
    close: () => clearInterval(timer),
  };
}
