/** Ends a connection and does not ask how that went. */
import type { Connection } from './connection.ts';

/** `for good`: a goodbye to the host as well. */
export async function closeQuietly(connection: Connection | undefined, how: 'for good' | 'to return'): Promise<void> {
  try {
    if (how === 'to return' && connection?.abandon !== undefined) await connection.abandon();
    else await connection?.close();
  } catch {
    // May stop here: it is closed because it is broken or no longer needed.
  }
}
