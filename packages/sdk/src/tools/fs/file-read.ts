/** file_read: one file's content and the digest of the whole file, up to max_bytes. */
import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { defineTool } from '../../contracts/tool.ts';

const MAX_BYTES_DEFAULT = 1_048_576;
const MAX_BYTES_LIMIT = 64 * 1024 * 1024;

const args = z.strictObject({
  path: z.string().min(1).describe('File to read, relative to the workspace root'),
  max_bytes: z
    .int()
    .min(1)
    .max(MAX_BYTES_LIMIT)
    .default(MAX_BYTES_DEFAULT)
    .describe('Bytes to return at most; a longer file comes back as its beginning'),
});

const data = z.strictObject({
  content: z.string().describe('The text, byte order mark included; base64 when `encoding` says so'),
  sha256: z.string().describe('Hex digest of the whole file, also when the content is cut'),
  size: z.int().describe('Size of the whole file in bytes'),
  truncated: z.boolean().describe('True when the file is longer than max_bytes'),
  binary: z.literal(true).optional().describe('Present when the bytes are not valid UTF-8'),
  encoding: z.literal('base64').optional().describe('Present with `binary`'),
});

export const fileRead = defineTool({
  name: 'file_read',
  category: 'fs',
  title: 'Read file',
  summary: 'Read a file inside the workspace',
  policyNotes: 'Paths that leave the workspace are refused; only regular files are read',
  args,
  data,
  annotations: {
    kind: 'read',
    side_effect_level: 'read_only',
    arg_schema: { path_params: ['path'], arg_aliases: { file: 'path', file_path: 'path' }, required: ['path'] },
    capabilities: { workspace: ['read_text'] },
  },
  effect: 'read',
  risk: 'low',
  idempotent: true,
  timeoutMs: 10_000,
  async run({ path, max_bytes }, { workspace, signal }) {
    const { bytes, sha256, size, truncated } = await workspace.readFile(path, { maxBytes: max_bytes, signal });
    const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const text = truncated ? content.subarray(0, wholeCharacters(content)) : content;
    if (isUtf8(text)) return { content: text.toString('utf8'), sha256, size, truncated };
    return { content: content.toString('base64'), sha256, size, truncated, binary: true, encoding: 'base64' } as const;
  },
});

/** Length without a character that was cut in two: a lead byte followed by fewer continuation bytes than it announces. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    return announcedLength(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function announcedLength(lead: number): number {
  if (lead >= 0xf0) return 4;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc0 ? 2 : 1;
}
