/** Events announce; nothing in the runtime steers by them. */
import type { EventMessage } from '@tool-runtime/protocol';

export interface RuntimeEvent {
  /** Increasing per runtime. Whoever wants to resume a dropped stream keeps its own log by it. */
  readonly id: number;
  readonly sessionId: string;
  readonly message: EventMessage;
}

/** Progress of calls and whatever needs attention, or every change of status too. */
export type EventSelection = 'progress' | 'all';

/** The one event that only listeners of `all` get: there are several for every call. */
export const STATUS_EVENT = 'CallStatusChanged';
