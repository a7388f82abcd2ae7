/**
 * Reads a body up to a limit counted after decoding, and hangs up at the limit: a compressed bomb costs one chunk more
 * than the limit, whatever it would unpack to.
 */
import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { httpFailure } from './http-failure.ts';

export interface ReadBody {
  readonly bytes: Uint8Array;
  readonly truncated: boolean;
  /** A compression of the server's was undone. */
  readonly decoded: boolean;
}

export interface BodyLimits {
  /** Of the request: an answer to HEAD has no body. */
  readonly method: string;
  readonly maxBytes: number;
  readonly host: string;
}

const BROKEN_OFF = { code: 'ECONNRESET' };
const DECODERS = new Map<string, () => Transform & { readonly bytesWritten: number }>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** Bodies under several compressions, or an unknown one, come back as they are. Throws E_HTTP. */
export async function readBody(response: IncomingMessage, { method, maxBytes, host }: BodyLimits): Promise<ReadBody> {
  // A connection can break before anyone listens to its body; then no event will come any more.
  if (response.destroyed) throw httpFailure(response.errored ?? BROKEN_OFF, host);
  const coding = (response.headers['content-encoding'] ?? '').trim().toLowerCase();
  const decoder = hasBody(response, method) ? DECODERS.get(coding)?.() : undefined;
  const source = decoder === undefined ? response : pipeline(response, decoder, () => {});
  try {
    return { ...(await collect(source, maxBytes)), decoded: decoder !== undefined };
  } catch (thrown) {
    if (decoder?.bytesWritten === 0 && response.complete)
      return { bytes: new Uint8Array(), truncated: false, decoded: true };
    throw httpFailure(thrown, host);
  }
}

/** Answers without a body may still name the compression the body would have had. */
function hasBody({ statusCode, headers }: IncomingMessage, method: string): boolean {
  return method !== 'HEAD' && statusCode !== 204 && statusCode !== 304 && headers['content-length'] !== '0';
}

function collect(source: Readable, maxBytes: number): Promise<{ bytes: Uint8Array; truncated: boolean }> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    source.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= maxBytes) return;
      resolve({ bytes: Buffer.concat(chunks, maxBytes), truncated: true });
      source.destroy();
    });
    source.on('end', () => resolve({ bytes: Buffer.concat(chunks, size), truncated: false }));
    source.on('error', reject);
    source.on('close', () => reject(BROKEN_OFF));
  });
}
