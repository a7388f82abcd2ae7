/**
 * What a call waits for before it runs: its turn in the session, a slot of the host, and a client that reads.
 *
 * A client that asks for much and reads nothing would otherwise fill the memory with answers. What it has asked for
 * waits as requests instead, which are small, and holds no slot meanwhile.
 */
import { ToolError } from '@tool-runtime/protocol';
import type { CallTurn, FairSlots } from '@tool-runtime/sdk';

export interface Turn {
  readonly sessionId: string;
  /** Of the host; none in a process that serves one client. */
  readonly slots: FairSlots | undefined;
  /** Of the session: as many calls as it runs at once, so that those behind them take no slot for nothing. */
  readonly window: FairSlots | undefined;
  /** Of the host: how many calls wait for a person. */
  readonly questions: Questions | undefined;
  /** Nothing to wait for, or a promise of the moment when the client has read what it was sent. */
  readonly room: (() => Promise<void> | undefined) | undefined;
}

export interface Questions {
  waiting: number;
  readonly limit: number;
}

/** Gives back what was taken. */
export type Release = () => void;

/** `asking`: it waits for a person, and others may run in its place. */
export type Phase = 'waiting' | 'running' | 'asking';

/** The place of one call among those that run, from its turn until it is left. */
export class Place implements CallTurn {
  phase: Phase = 'waiting';
  readonly #where: Turn;
  #release: Release | undefined;
  #isLeft = false;

  constructor(where: Turn) {
    this.#where = where;
  }

  take(signal: () => AbortSignal): void | Promise<void> {
    const taken = takeTurn(this.#where, signal);
    return typeof taken === 'function' ? this.#begin(taken) : taken.then((release) => this.#begin(release));
  }

  #begin(release: Release): void {
    this.phase = 'running';
    if (this.#isLeft) release();
    else this.#release = release;
  }

  /** Going on must not wait for anything: what was approved could time out after all. */
  lend(): () => void {
    const { questions, slots, window } = this.#where;
    if (questions !== undefined && questions.waiting >= questions.limit) throw tooManyQuestions(questions.limit);
    if (questions !== undefined) questions.waiting += 1;
    this.phase = 'asking';
    slots?.give();
    window?.give();
    return () => {
      if (questions !== undefined) questions.waiting -= 1;
      this.phase = 'running';
      slots?.takeBack();
      window?.takeBack();
    };
  }

  leave(): void {
    this.#isLeft = true;
    this.#release?.();
  }
}

/**
 * A call that was cancelled while it waited gets no turn and needs none: its answer is that it was cancelled. The signal
 * is made only where there is something to wait for. Otherwise a call begins as it arrives: the journal commits when the
 * event loop has read from all connections, so calls that arrive together share a commit anyway.
 */
export function takeTurn(turn: Turn, signal: () => AbortSignal): Release | Promise<Release> {
  const { window, slots, room } = turn;
  const isFree = window?.isFree !== false && slots?.isFree !== false && room?.() === undefined;
  if (!isFree) return waitForTurn(turn, signal());
  window?.take(turn.sessionId);
  slots?.take(turn.sessionId);
  return () => {
    slots?.give();
    window?.give();
  };
}

async function waitForTurn({ window, slots, sessionId, room }: Turn, signal: AbortSignal): Promise<Release> {
  if ((await window?.take(sessionId, signal)) === false) return () => {};
  const leave: Release = () => window?.give();
  for (;;) {
    if ((await slots?.take(sessionId, signal)) === false) return leave;
    // A call that ends lets the next one in. Others get a turn in between, however long the line is.
    if (room?.() === undefined) await new Promise((resolve) => setImmediate(resolve));
    const full = room?.();
    if (full === undefined) {
      return () => {
        slots?.give();
        leave();
      };
    }
    slots?.give();
    await unlessAborted(full, signal);
    if (signal.aborted) return leave;
  }
}

function unlessAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      signal.removeEventListener('abort', done);
      resolve();
    };
    signal.addEventListener('abort', done, { once: true });
    void promise.then(done);
    if (signal.aborted) done();
  });
}

function tooManyQuestions(limit: number): ToolError {
  return new ToolError('E_POLICY', `Host has as many unanswered questions as it takes: ${limit}`, {
    details: { gate: 'approval', reason: 'too_many_questions', limit, next: 'answer or cancel some, then try again' },
  });
}
