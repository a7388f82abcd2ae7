/**
 * What it takes to join a session on a new connection: how far its events were seen, how many of them are wanted, and
 * which of the host's SessionAcks answer a wish of the client.
 */

import type { SessionAttach } from '../envelopes/from-client/session-attach.ts';
import type { SessionAck } from '../envelopes/from-host/session-ack.ts';
import type { Connection } from './connection.ts';

/** As many as one SessionAttach may name. */
const MAX_PENDING = 1024;

export interface JoinSituation {
  readonly sessionId: string;
  readonly pending: readonly string[];
  /** The host greeted the connection with this very session. */
  readonly isGreeted: boolean;
}

export class SessionJoins {
  readonly position = new EventPosition();
  /** Progress is wanted by single calls, which matters only where it does not come by itself. */
  wantsProgress = false;
  #level: 'progress' | 'all' | undefined;
  /** A listener wants something that was not sent yet. */
  #isDue = false;
  /** The session was in use on an earlier connection. */
  #isReturn = false;
  /** For each SessionAttach on the way, whether its SessionAck is for the client. */
  #acks: ('pass' | 'swallow')[] = [];

  /** Another session took the place of the last. */
  restart(): void {
    this.#isReturn = false;
    this.position.reset();
  }

  /** What to send first on a new connection; nothing where the session is joined already and nothing is owed. */
  begin(connection: Connection, { sessionId, pending, isGreeted }: JoinSituation): SessionAttach[] {
    const isQuiet = connection.wantEvents !== undefined;
    const events = this.#level ?? (isQuiet && this.wantsProgress ? 'progress' : undefined);
    const isOwed = pending.length > 0 || events !== undefined;
    const isReturn = this.#isReturn;
    this.#isReturn = true;
    this.#isDue = false;
    this.#acks = [];
    if (!isOwed && (isQuiet || (isGreeted && !isReturn))) return [];
    const base = { type: 'SessionAttach', session_id: sessionId, ...(events === undefined ? {} : { events }) } as const;
    const after = this.position.after ?? (isReturn ? 0 : undefined);
    const first = { ...base, ...(after === undefined ? {} : { after }), ...owed(pending.slice(0, MAX_PENDING)) };
    const attaches: SessionAttach[] = [first];
    for (let start = MAX_PENDING; start < pending.length; start += MAX_PENDING) {
      attaches.push({ ...base, ...owed(pending.slice(start, start + MAX_PENDING)) });
    }
    this.#acks = attaches.map((attach) => (attach === first ? 'pass' : 'swallow'));
    return attaches;
  }

  /** Remembers what a listener wants, for this connection and those that follow. */
  want({ after, events }: SessionAttach): void {
    this.#level = this.#level === 'all' ? 'all' : (events ?? 'progress');
    if (after !== undefined) this.position.rewindTo(after);
    this.#isDue = true;
  }

  /** The message that brings what a listener wants, unless it is under way. */
  takeDue(sessionId: string): SessionAttach | undefined {
    if (!this.#isDue) return undefined;
    this.#isDue = false;
    this.#acks.push('pass');
    const after = this.position.wanted;
    return this.#attach(sessionId, after === undefined ? {} : { after });
  }

  /** The message that asks what became of one request. */
  ask(sessionId: string, requestId: string): SessionAttach {
    this.#acks.push('swallow');
    return this.#attach(sessionId, { pending: [requestId] });
  }

  /** Whether the client should see this SessionAck. */
  acknowledged({ session_id }: SessionAck, sessionId: string | undefined): boolean {
    // A listener that came meanwhile would take it for the answer to its own wish, which is yet to be sent.
    if (this.#acks.shift() !== 'pass' || session_id !== sessionId || this.#isDue) return false;
    this.position.resumed();
    return true;
  }

  /** Always with the level, which the host would otherwise set back. */
  #attach(session_id: string, rest: Pick<SessionAttach, 'after' | 'pending'>): SessionAttach {
    return {
      type: 'SessionAttach',
      session_id,
      ...(this.#level === undefined ? {} : { events: this.#level }),
      ...rest,
    };
  }
}

function owed(pending: readonly string[]): Pick<SessionAttach, 'pending'> {
  return pending.length === 0 ? {} : { pending };
}

/**
 * How far the events of a session were seen, so that a new connection resumes there.
 *
 * A listener may ask for older ones. Until the host has answered that, live events still come and do not count: should
 * the connection break just then, the older ones are still to be had.
 */
export class EventPosition {
  #last: number | undefined;
  #rewind: number | undefined;

  /** Where to resume; undefined when nothing was seen or asked for. */
  get after(): number | undefined {
    return this.#rewind ?? this.#last;
  }

  /** Older events that were asked for and have not begun to come. */
  get wanted(): number | undefined {
    return this.#rewind;
  }

  saw(id: number): void {
    this.#last = Math.max(id, this.#last ?? 0);
  }

  rewindTo(after: number): void {
    this.#rewind = Math.min(after, this.#rewind ?? after);
  }

  /** The host has begun to send from where it was asked to. */
  resumed(): void {
    if (this.#rewind !== undefined) this.#last = this.#rewind;
    this.#rewind = undefined;
  }

  reset(): void {
    this.#last = undefined;
    this.#rewind = undefined;
  }
}
