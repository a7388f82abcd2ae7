/**
 * The thread that parses for bulk indexing: jobs come in, packed facts go out, in the order of the jobs. It reads no
 * files. A failure of the parser itself is not caught: it ends the thread, and the pool starts another.
 */
import { type MessagePort, parentPort } from 'node:worker_threads';
import { createEngine } from '../../symbols/engine.ts';
import { type ParseJob, parseOutcome, READY } from './parse-outcome.ts';

function serve(port: MessagePort): void {
  const engine = createEngine();
  let last: Promise<void> = Promise.resolve();
  port.on('message', (job: ParseJob) => {
    last = last.then(async () => {
      const outcome = await parseOutcome(engine, job);
      port.postMessage(
        outcome,
        'packed' in outcome ? [outcome.packed.buffer as ArrayBuffer, outcome.columns.buffer as ArrayBuffer] : [],
      );
    });
  });
  port.postMessage(READY);
}

if (parentPort !== null) serve(parentPort);
