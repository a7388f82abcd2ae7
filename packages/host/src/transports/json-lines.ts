/** Lines off a stream, each a message, no faster than they can be answered. Shared by stdio and the Unix socket. */
import type { Readable } from 'node:stream';
import { type ErrorMessage, readIdOfEnds } from '@tool-runtime/protocol';
import { withClass } from '@tool-runtime/protocol/internal';
import type { Connection } from '../dispatch/connection.ts';
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
  /** False when nothing more is to be read. */
  const take = (line: Line): boolean => {
    if (line.ok) connection.receive(line.text);
    else connection.refuse(unreadable(line, maxRequestBytes));
    return line.ok || !isLostRequest(line);
  };
  try {
    for await (const chunk of input) {
      for (const line of lines.push(toBytes(chunk))) {
        if (!take(line)) return;
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

type Unreadable = Extract<Line, { ok: false }>;

/** An object too large to be kept, whose id was not found: its sender would wait for an answer forever. */
function isLostRequest(line: Unreadable): boolean {
  return line.reason === 'too_large' && line.head.trimStart().startsWith('{') && requestIdOf(line) === null;
}

function requestIdOf(line: Unreadable): string | null {
  return line.reason === 'too_large' ? readIdOfEnds(line.head, line.tail) : null;
}

function unreadable(line: Unreadable, maxBytes: number): ErrorMessage {
  const { reason } = line;
  const isLost = isLostRequest(line);
  return {
    type: 'ErrorMessage',
    code: 'E_VALIDATION_FAIL',
    message: reason === 'too_large' ? `Line is longer than the limit: ${maxBytes} bytes` : 'Line is not valid UTF-8',
    request_id: requestIdOf(line),
    details: withClass('E_VALIDATION_FAIL', {
      reason,
      ...(isLost ? { closing: true } : {}),
      next: isLost ? LOST : NEXT_STEPS[reason],
    }),
  };
}

const LOST =
  'the connection is closed, because no request_id is in the first or last 4 KiB of the line; send less at once';
const NEXT_STEPS = {
  too_large: 'send less at once, or raise limits.max_request_bytes in the registry',
  invalid_utf8: 'encode every line as UTF-8; send other bytes as base64',
} as const;
