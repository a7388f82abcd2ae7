/**
 * The built pages of the console. They say nothing about any work, so they need no token; everything in them is asked for
 * through the published routes. The policy of the page allows its own files and requests to this host, nothing else.
 */
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ToolError } from '@tool-runtime/protocol';

export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const INDEX = 'index.html';

interface Pages {
  /** Throws when there is no such file; without a name, the page itself. */
  send(incoming: IncomingMessage, outgoing: ServerResponse, name?: string): void;
}

interface PageFile {
  readonly type: string;
  readonly plain: Buffer;
  readonly zipped: Buffer;
}

/** One segment, so that no name leads out of the folder. */
const NAME = /^[\w-]+\.(?:js|css|svg)$/;

/** Files are read when they are first asked for, and kept. */
export function createPages(folder: string): Pages {
  const files = new Map<string, PageFile>();

  function fileOf(name: string): PageFile {
    const known = files.get(name);
    if (known !== undefined) return known;
    if (name !== INDEX && !NAME.test(name)) throw noPage();
    const plain = read(join(folder, name));
    const file = { type: TYPES[extname(name)] ?? '', plain, zipped: gzipSync(plain, { level: 9 }) };
    files.set(name, file);
    return file;
  }

  return {
    send(incoming, outgoing, name = INDEX) {
      const file = fileOf(name);
      const isZipped = /\bgzip\b/.test(String(incoming.headers['accept-encoding'] ?? ''));
      const body = isZipped ? file.zipped : file.plain;
      outgoing.writeHead(200, {
        'content-type': file.type,
        'content-length': body.length,
        ...(isZipped ? { 'content-encoding': 'gzip' } : {}),
        vary: 'accept-encoding',
        // Every other file has a digest of its content in its name.
        'cache-control': name === INDEX ? 'no-cache' : 'public, max-age=31536000, immutable',
        'content-security-policy': PAGE_POLICY,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
      });
      outgoing.end(body);
    },
  };
}

function read(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw noPage(cause);
  }
}

function noPage(cause?: unknown): ToolError {
  return new ToolError('E_VALIDATION_FAIL', 'There is no such page', {
    details: { reason: 'unknown_route', next: 'see GET /openapi.json; in a checkout, npm run build makes the pages' },
    cause,
  });
}
