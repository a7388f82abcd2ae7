/** The progress of a long call, on one line of the terminal that is gone when the call ends. */
import type { WriteStream } from 'node:tty';
import type { Session } from '@tool-runtime/sdk';
import { plainText } from '../terminal/plain-text.ts';

const CLEAR_LINE = '\r\u001b[K';
const USUAL_WIDTH = 80;

/** Shows nothing where `stream` is no terminal. The returned function ends it. */
export function showProgress(session: Pick<Session, 'listen'>, stream: WriteStream): () => void {
  if (!stream.isTTY) return () => {};
  let isShown = false;
  const stop = session.listen(({ message }) => {
    if (message.event !== 'TaskProgress') return;
    const line = `${Math.floor(message.progress.pct)}% ${plainText(message.progress.message)}`;
    // A line that wraps could not be cleared.
    stream.write(`${CLEAR_LINE}${line.slice(0, (stream.columns ?? USUAL_WIDTH) - 1)}`);
    isShown = true;
  });
  return () => {
    stop();
    if (isShown) stream.write(CLEAR_LINE);
  };
}
