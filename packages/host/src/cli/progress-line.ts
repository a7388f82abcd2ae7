/** The progress of a long call, on one line of the terminal that is gone when the call ends. */
import type { WriteStream } from 'node:tty';
import type { Session } from '@tool-runtime/sdk';
import { plainText } from '../terminal/terminal.ts';

const CLEAR_LINE = '\r\u001b[K';
const USUAL_WIDTH = 80;
/** Shorter waits are not worth a line. */
const PATIENCE_MS = 500;

/**
 * What the call reports, as it comes; after half a second of silence how long it has been at work. Shows nothing where
 * `stream` is no terminal. The returned function ends it.
 */
export function showProgress(
  session: Pick<Session, 'listen'>,
  stream: WriteStream,
  patienceMs = PATIENCE_MS,
): () => void {
  if (!stream.isTTY) return () => {};
  const began = performance.now();
  let last = '';
  let isShown = false;
  const show = (): void => {
    const seconds = Math.floor((performance.now() - began) / 1000);
    const line = last === '' ? `working, ${seconds} s` : last;
    // A line that wraps could not be cleared. Terminals that do not know their width say 0.
    stream.write(`${CLEAR_LINE}${line.slice(0, (stream.columns || USUAL_WIDTH) - 1)}`);
    isShown = true;
  };
  const timer = setInterval(show, patienceMs);
  timer.unref();
  const stop = session.listen(({ message }) => {
    if (message.event !== 'TaskProgress') return;
    last = `${Math.floor(message.progress.pct)}% ${plainText(message.progress.message)}`;
    show();
  });
  return () => {
    stop();
    clearInterval(timer);
    if (isShown) stream.write(CLEAR_LINE);
  };
}

/** For work that reports nothing, and may keep this thread busy all the time: the line is there from the start. */
export async function whileWorking<Result>(
  what: string,
  work: () => Promise<Result> | Result,
  stream: WriteStream = process.stderr,
): Promise<Result> {
  if (!stream.isTTY) return work();
  stream.write(`${CLEAR_LINE}${what}`);
  try {
    return await work();
  } finally {
    stream.write(CLEAR_LINE);
  }
}
