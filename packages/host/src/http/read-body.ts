/** The body of a request as text: bounded, in time, and really UTF-8. */
import type { IncomingMessage } from 'node:http';
import { ToolError } from '@tool-runtime/protocol';

export async function readBody(incoming: IncomingMessage, maxBytes: number): Promise<string> {
  const stated = Number(incoming.headers['content-length'] ?? 0);
  if (stated > maxBytes) throw tooLarge(maxBytes);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of incoming) {
      size += (chunk as Buffer).length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      chunks.push(chunk as Buffer);
    }
  } catch (thrown) {
    if (thrown instanceof ToolError) throw thrown;
    throw new ToolError('E_VALIDATION_FAIL', 'Body broke off', {
      details: { reason: 'body_incomplete' },
      cause: thrown,
    });
  }
  return decode(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size));
}

function decode(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  // The replacement character is either in the sender's text or a sign that bytes were lost: only then look closely.
  if (text.includes('\ufffd') && !Buffer.from(text, 'utf8').equals(bytes)) {
    throw new ToolError('E_VALIDATION_FAIL', 'Body is not valid UTF-8', {
      details: { reason: 'invalid_utf8', next: 'encode the body as UTF-8; send other bytes as base64' },
    });
  }
  return text;
}

function tooLarge(maxBytes: number): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Body is larger than the limit: ${maxBytes} bytes`, {
    details: {
      reason: 'too_large',
      limit: maxBytes,
      next: 'send less at once, or raise limits.max_request_bytes in the registry',
    },
  });
}
