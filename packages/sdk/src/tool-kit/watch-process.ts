/**
 * What may end a run from outside the tool's own code: signals, errors nobody waits for, waiting for nothing.
 *
 * A signal asks first. A tool that does not come to an end in time is ended, so that a result is written before the
 * wrapper loses patience. Code that never returns to the event loop cannot be asked.
 */
import { ToolFailure } from './tool-failure.ts';

export interface ProcessWatch {
  readonly signal: AbortSignal;
  /** Never fulfilled; rejects when the run has to end now. */
  readonly ended: Promise<never>;
}

const GRACE_MS = 2000;

export function watchProcess(): ProcessWatch {
  const controller = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  // The run may be over before anyone waits for this.
  promise.catch(() => {});
  function interrupt(name: NodeJS.Signals): void {
    const reason = new ToolFailure(1, 'INTERRUPTED', `Ended by ${name} before it was done`);
    if (controller.signal.aborted) reject(reason);
    controller.abort(reason);
    setTimeout(() => reject(reason), GRACE_MS);
  }
  process.on('SIGTERM', interrupt);
  process.on('SIGINT', interrupt);
  process.on('uncaughtException', reject);
  // Nothing is left that could wake the tool up: Node would end here without a result, and with exit code 0 or 13.
  process.on('beforeExit', () =>
    reject(new ToolFailure(1, 'STALLED', 'The tool waits for something that cannot come')),
  );
  return { signal: controller.signal, ended: promise };
}
