/**
 * The events of every session in one stream, for people who look at the whole host.
 *
 * Changes of status would be several for each call, so they are not among them. Instead readers hear a few times a second that
 * the journal has grown or calls have begun or ended, and those who want to, which calls. Each event is made once for all
 * readers, and nothing is read or made without readers: watching must not slow down the work.
 */
import { type CallNews, followCalls, type LiveCalls } from '../records/live-calls.ts';
import { type EventFrame, frameOf } from './event-frame.ts';
import { EventLog, type LoggedEvent } from './kept-messages.ts';
import type { Work } from './served-calls.ts';
import type { HostWorkspace } from './workspaces.ts';

export type ActivityListener = (frame: EventFrame) => void;

export interface Activity {
  /** Told by each session. */
  note(event: LoggedEvent): void;
  /** An event about the host itself. */
  announce(event: string, data: object): void;
  /** The kept events after `id`; of changes of calls only the newest, which says all that those before it said. */
  after(id: number): { readonly frames: readonly EventFrame[]; readonly isComplete: boolean; readonly firstId: number };
  /** `calls`: `CallsChanged` says which. */
  listen(listener: ActivityListener, options: { readonly calls: boolean }): () => void;
  close(): void;
}

export interface ActivitySource {
  readonly nextEventId: () => number;
  readonly work: () => Work;
  readonly workspaces: () => readonly Pick<HostWorkspace, 'name' | 'runtime'>[];
}

const KEPT = 4096;
const EVERY_MS = 200;
/** When more happens than a look takes in, twice in a row, people cannot follow line by line. */
const FLOODED_MS = 1000;

export function createActivity({ nextEventId, work, workspaces }: ActivitySource): Activity {
  const log = new EventLog(KEPT);
  const plain = new Set<ActivityListener>();
  const detailed = new Set<ActivityListener>();
  let journals: readonly LiveCalls[] = [];
  let timer: NodeJS.Timeout | undefined;
  let last = '';
  let lookAgainAt = 0;
  let wasFlooded = false;
  let change: LoggedEvent | undefined;

  function send(listeners: readonly ActivityListener[], event: LoggedEvent): void {
    if (listeners.length === 0) return;
    const frame = frameOf(event);
    for (const listener of listeners) listener(frame);
  }

  function note(event: LoggedEvent): void {
    log.append(event);
    send([...plain, ...detailed], event);
  }

  function look(): void {
    if (performance.now() < lookAgainAt) return;
    const { running, waiting } = work();
    const heads = workspaces().map(({ runtime }) => runtime.head().seq);
    const current = `${heads.join()} ${running} ${waiting}`;
    if (current === last && !wasFlooded) return;
    last = current;
    const id = nextEventId();
    change = hostEvent(id, 'CallsChanged', { running, waiting });
    send([...plain], change);
    if (detailed.size === 0) return;
    const news = journals.map((journal) => journal.look()).filter((one): one is CallNews => one !== undefined);
    const isFlooded = news.some(({ left_out: leftOut }) => leftOut > 0);
    if (isFlooded && wasFlooded) lookAgainAt = performance.now() + FLOODED_MS;
    wasFlooded = isFlooded;
    send([...detailed], hostEvent(id, 'CallsChanged', { running, waiting, workspaces: news }));
  }

  function leave(): void {
    if (detailed.size === 0) [journals, wasFlooded, lookAgainAt] = [[], false, 0];
    if (plain.size + detailed.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    note,
    announce: (event, data) => note(hostEvent(nextEventId(), event, data)),
    after(id) {
      const { events, isComplete } = log.after(id);
      const all = change !== undefined && change.id > id ? [...events, change] : events;
      const inOrder = all.toSorted((one, other) => one.id - other.id);
      return { frames: inOrder.map(frameOf), isComplete, firstId: inOrder[0]?.id ?? log.lastId + 1 };
    },
    listen(listener, { calls }) {
      const listeners = calls ? detailed : plain;
      if (calls && detailed.size === 0) journals = workspaces().map(followCalls);
      listeners.add(listener);
      timer ??= setInterval(look, EVERY_MS).unref();
      return () => {
        if (listeners.delete(listener)) leave();
      };
    },
    close: () => clearInterval(timer),
  };
}

function hostEvent(id: number, event: string, data: object): LoggedEvent {
  const message = { type: 'EventMessage', event, request_id: 'host', session_id: 'host', id };
  return {
    ...{ id, event, requestId: 'host' },
    text: JSON.stringify({ ...message, progress: { pct: 0, message: '' }, data }),
  };
}
