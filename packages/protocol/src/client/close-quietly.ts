/** Ends a connection that is of no more use. */
import type { Connection } from './connection.ts';

export async function closeQuietly(connection: Connection | undefined): Promise<void> {
  try {
    await connection?.close();
  } catch {
    // May stop here: it is closed because it is broken, and breaks once more.
  }
}
