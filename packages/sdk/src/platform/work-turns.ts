/** Long work on the event loop in short turns: others run in between, and a cancelled call ends at the next one. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { throwIfAborted } from './cancellation.ts';

export interface WorkTurns {
  /** The turn has lasted long enough: `rest` before going on. */
  isOver(): boolean;
  /** Lets others run; throws when the work was cancelled meanwhile. */
  rest(): Promise<void>;
}

const TURN_MS = 8;

export function createWorkTurns(signal?: AbortSignal): WorkTurns {
  let turnStart = performance.now();
  return {
    isOver: () => performance.now() - turnStart > TURN_MS,
    async rest() {
      await nextTurn();
      throwIfAborted(signal);
      turnStart = performance.now();
    },
  };
}
