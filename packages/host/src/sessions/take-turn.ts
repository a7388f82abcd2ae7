/**
 * What a call waits for before it runs: its turn in the session, a slot of the host, and a client that reads.
 *
 * A client that asks for much and reads nothing would otherwise fill the memory with answers. What it has asked for
 * waits as requests instead, which are small, and holds no slot meanwhile.
 */
import type { CallTurn, FairSlots } from '@tool-runtime/sdk';
import type { SameTurn } from './same-turn.ts';

export interface Turn {
  readonly sessionId: string;
  readonly signal: AbortSignal;
  /** Of the host; none in a process that serves one client. */
  readonly slots: FairSlots | undefined;
  /** Of the host: what came at the same time begins at the same time. */
  readonly turns: SameTurn | undefined;
  /** Of the session: as many calls as it runs at once, so that those behind them take no slot for nothing. */
  readonly window: FairSlots | undefined;
  /** Nothing to wait for, or a promise of the moment when the client has read what it was sent. */
  readonly room: (() => Promise<void> | undefined) | undefined;
}

/** Gives back what was taken. */
export type Release = () => void;

/** The place of one call among those that run, from its turn until it is left. */
export function placeFor(where: Omit<Turn, 'signal'>): { readonly turn: CallTurn; leave(): void } {
  let release: Release | undefined;
  let isLeft = false;
  return {
    turn: {
      async take(signal) {
        // The signal is made only when there is something to wait for.
        const taken = await takeTurn(Object.defineProperty({ ...where } as Turn, 'signal', { get: signal }));
        if (isLeft) taken();
        else release = taken;
      },
      lend() {
        where.window?.give();
        return () => where.window?.takeBack();
      },
    },
    leave() {
      isLeft = true;
      release?.();
    },
  };
}

/** A call that was cancelled while it waited gets no turn and needs none: its answer is that it was cancelled. */
export function takeTurn(turn: Turn): Release | Promise<Release> {
  const { window, slots, turns, room } = turn;
  const isFree = window?.isFree !== false && slots?.isFree !== false && room?.() === undefined;
  if (!isFree) return waitForTurn(turn);
  window?.take(turn.sessionId);
  slots?.take(turn.sessionId);
  const release: Release = () => {
    slots?.give();
    window?.give();
  };
  return turns === undefined ? release : turns.end().then(() => release);
}

async function waitForTurn({ window, slots, sessionId, signal, room }: Turn): Promise<Release> {
  if ((await window?.take(sessionId, signal)) === false) return () => {};
  const leave: Release = () => window?.give();
  for (;;) {
    if ((await slots?.take(sessionId, signal)) === false) return leave;
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
