/** An event as it stands in a stream of server-sent events: bytes, made once and written to every reader. */
import type { LoggedEvent } from './kept-messages.ts';

export interface EventFrame {
  readonly id: number;
  readonly bytes: Buffer;
}

export function frameOf({ id, text }: Pick<LoggedEvent, 'id' | 'text'>): EventFrame {
  return { id, bytes: Buffer.from(`id: ${id}\ndata: ${text}\n\n`) };
}
