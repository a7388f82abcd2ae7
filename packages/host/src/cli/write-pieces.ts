/** Bytes of others on a stream of ours: as they are for programs, made harmless for a terminal. */

import { StringDecoder } from 'node:string_decoder';
import type { WriteStream } from 'node:tty';
import { safeLines } from '@tool-runtime/protocol/internal';

const ENDS = ['drain', 'close', 'error'] as const;

export interface PieceWriter {
  /** Waits for a reader that is slower. */
  write(piece: Uint8Array): Promise<void>;
  end(): Promise<void>;
}

export function createPieceWriter(stream: WriteStream): PieceWriter {
  const decoder = new StringDecoder('utf8');
  const send = async (piece: string | Uint8Array): Promise<void> => {
    if (piece.length > 0 && !stream.write(piece) && !stream.destroyed) await ready(stream);
  };
  return {
    write: (piece) => send(stream.isTTY ? safeLines(decoder.write(Buffer.from(piece))) : piece),
    end: () => send(stream.isTTY ? safeLines(decoder.end()) : ''),
  };
}

/** A reader that leaves, such as `head`, is waited for no longer. */
function ready(stream: WriteStream): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      for (const name of ENDS) stream.off(name, done);
      resolve();
    };
    for (const name of ENDS) stream.on(name, done);
  });
}

/** Text that is there at once. */
export function writeText(stream: WriteStream, text: string): void {
  stream.write(stream.isTTY ? safeLines(text) : text);
}
