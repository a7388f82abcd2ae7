/**
 * Text in pages that any gunzip unpacks as one: each page is a gzip member of its own, and its header says how long it
 * is (an extra field, as RFC 1952 provides for), so that a reader needs no more than one page in memory.
 */
import { gunzipSync, gzip } from 'node:zlib';
import type { ArchiveFile } from '../../platform/state/archive-files.ts';

/** Magic, method, the flag for an extra field, no time, any system; then the extra field `TR` with a 32-bit length. */
const PREFIX = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 8, 0, 0x54, 0x52, 4, 0]);
const HEADER_BYTES = PREFIX.length + 4;
const PLAIN_HEADER_BYTES = 10;

/** No text is longer than this, so a page that claims to be was not written here. */
const MAX_PAGE_BYTES = 0x1fff_ffff;

/** Packs on another thread: the event loop goes on meanwhile. */
export async function encodePage(text: string): Promise<Buffer> {
  const packed = await new Promise<Buffer>((resolve, reject) => {
    gzip(text, (error, result) => (error === null ? resolve(result) : reject(error)));
  });
  const length = Buffer.alloc(4);
  const rest = packed.subarray(PLAIN_HEADER_BYTES);
  length.writeUInt32LE(HEADER_BYTES + rest.length);
  return Buffer.concat([PREFIX, length, rest]);
}

/** Throws TypeError for bytes that are not such pages. `onBytes` gets every byte of the file that was read, in order. */
export function* decodePages(file: ArchiveFile, onBytes: (bytes: Uint8Array) => void = () => {}): Generator<string> {
  for (let offset = 0; offset < file.size; ) {
    const header = file.read(offset, HEADER_BYTES);
    if (header.length < HEADER_BYTES || !header.subarray(0, PREFIX.length).equals(PREFIX)) throw notPages();
    const length = header.readUInt32LE(PREFIX.length);
    if (length <= HEADER_BYTES || offset + length > file.size) throw notPages();
    const page = file.read(offset, length);
    onBytes(page);
    yield unpack(page);
    offset += length;
  }
}

function unpack(page: Buffer): string {
  try {
    return gunzipSync(page, { maxOutputLength: MAX_PAGE_BYTES }).toString('utf8');
  } catch (cause) {
    throw notPages(cause);
  }
}

function notPages(cause?: unknown): TypeError {
  return new TypeError('a page of it cannot be unpacked', { cause });
}
