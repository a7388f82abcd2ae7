/**
 * The output of a program in few pieces. Ripgrep writes what it finds in each file by itself: to wake up for each of these
 * many thousand writes costs more than to read them, and takes processors from ripgrep.
 */
import { setTimeout as delay } from 'node:timers/promises';

const WAIT_MS = 1;
/** A short answer should not wait. */
const READ_AT_ONCE = 16;
/** Half of what a pipe holds: one that fills faster must not stop its writer. */
const LARGE_BYTES = 32 * 1024;

/** `output` should not be read ahead. */
export async function* inFewPieces(output: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pieces = 0;
  for await (const piece of output) {
    yield piece;
    pieces += 1;
    if (pieces >= READ_AT_ONCE && piece.length < LARGE_BYTES) await delay(WAIT_MS);
  }
}
