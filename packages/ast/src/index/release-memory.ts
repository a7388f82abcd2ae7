/**
 * Gives memory back to the system once a bulk run is over.
 *
 * While files come in, the heap grows to several times of what the index keeps, and V8 leaves it at that size until it is under
 * pressure. One collection that also shrinks the heap takes about 0.1 seconds and halves the memory of the process.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What a few files leave behind is not worth a pause. */
const WORTH_BYTES = 8 * 1024 * 1024;

type Collect = (options: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void;

/** `parsedBytes`: of the files that were parsed since the last time. */
export function releaseMemory(parsedBytes: number): void {
  if (parsedBytes < WORTH_BYTES) return;
  const collect = globalThis.gc ?? exposedCollector();
  (collect as Collect | undefined)?.({ type: 'major', flavor: 'last-resort' });
}

/** The flag decides what a new context gets, and changes nothing of those that exist. */
function exposedCollector(): Collect | undefined {
  setFlagsFromString('--expose-gc');
  try {
    return runInNewContext('globalThis.gc') as Collect | undefined;
  } finally {
    setFlagsFromString('--no-expose-gc');
  }
}
