/** Signals to a process group whose leader was started here. */
import { errnoCode } from '../errno-error.ts';

/** Gone already, or not ours to signal any more (a set-user-id program): either way there is nothing left to do. */
export function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch (thrown) {
    if (errnoCode(thrown) === undefined) throw thrown;
  }
}
