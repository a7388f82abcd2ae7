/** Lines off a stream, each a message, no faster than they can be answered. Shared by stdio and the Unix socket. */
import type { Readable } from 'node:stream';
import type { ErrorMessage } from '@tool-runtime/protocol';
import type { Connection } from '../connection.ts';
import { type Line, LineSplitter } from './line-splitter.ts';
import type { LineWriter } from './line-writer.ts';

export interface LineService {
  readonly connection: Connection;
  readonly writer: LineWriter;
  readonly signal: AbortSignal;
  readonly maxRequestBytes: number;
}

/** Resolves at the end of the input, whether clean or not. */
export async function readLines(input: Readable, service: LineService): Promise<void> {
  const { connection, signal, maxRequestBytes } = service;
  // Twice the limit, because a request somewhat too large can still be answered under its own id.
  const lines = new LineSplitter(2 * maxRequestBytes);
  const take = (line: Line): void => {
    if (line.ok) connection.receive(line.text);
    else connection.refuse(unreadable(line.reason, maxRequestBytes));
  };
  try {
    for await (const chunk of input) {
      for (const line of lines.push(toBytes(chunk))) {
        take(line);
        for (let wait = obstacle(service); wait !== undefined; wait = obstacle(service)) await wait;
        if (signal.aborted) return;
      }
    }
  } catch {
    // The input broke off; what was read whole is served, like after a clean end.
  }
  if (!signal.aborted) for (const line of lines.end()) take(line);
}

/** Mostly none, and then lines that came together are served together: their records share a commit. */
function obstacle({ connection, writer }: LineService): Promise<void> | undefined {
  return connection.place() ?? writer.ready();
}

function toBytes(chunk: unknown): Buffer {
  return typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Buffer);
}

function unreadable(reason: Extract<Line, { ok: false }>['reason'], maxBytes: number): ErrorMessage {
  return {
    type: 'ErrorMessage',
    code: 'E_VALIDATION_FAIL',
    message: reason === 'too_large' ? `Line is longer than the limit: ${maxBytes} bytes` : 'Line is not valid UTF-8',
    request_id: null,
    details: { reason, next: NEXT_STEPS[reason] },
  };
}

const NEXT_STEPS = {
  too_large: 'send less at once, or raise limits.max_request_bytes in the registry',
  invalid_utf8: 'encode every line as UTF-8; send other bytes as base64',
} as const;
