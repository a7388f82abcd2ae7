/**
 * The end of a connection from our side: last words, then a while in which what still comes is thrown away.
 *
 * A socket that is destroyed with unread bytes resets the connection, and the last words may be lost with it; one that
 * is only ended stays for as long as the other side likes. This is between the two.
 */
import type { Socket } from 'node:net';

/** For a client to take what it was sent. */
const FLUSH_MS = 30_000;
/** For it to leave once it has. */
const LINGER_MS = 1000;

export function endSocket(socket: Socket, lastWords = ''): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const destroy = (): void => void socket.destroy();
  let timer = setTimeout(destroy, FLUSH_MS).unref();
  socket.once('close', () => clearTimeout(timer));
  socket.end(lastWords, () => {
    clearTimeout(timer);
    if (!socket.destroyed) timer = setTimeout(destroy, LINGER_MS).unref();
  });
  socket.resume();
}
