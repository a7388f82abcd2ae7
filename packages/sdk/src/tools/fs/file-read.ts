/**
 * file_read: the content of one or several files, or some of their lines, and the digests of the whole files.
 *
 * Answers without a promise when the workspace does, which small files do; nothing on that way asks for the signal.
 */
import { isToolError, ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import { type AnswerPart, callText, type ToolText } from '../../contracts/tool-text.ts';
import type { FileContent, ReadOptions } from '../../contracts/workspace.ts';
import { countLines, shareOut } from '../../present/fit-parts.ts';
import { counted, shownName } from '../../present/rows.ts';
import {
  type DetectedEncoding,
  decodeText,
  detectEncoding,
  TEXT_ENCODINGS,
  type TextEncoding,
} from '../../text/encoding.ts';
import { LineWindow } from '../../text/line-window.ts';

const NEWLINE_STYLES = ['lf', 'crlf', 'cr', 'mixed', 'none'] as const;
type NewlineStyle = (typeof NEWLINE_STYLES)[number];

/** How the lines of a text end. */
export function newlineStyle(text: string): NewlineStyle {
  if (!text.includes('\r')) return text.includes('\n') ? 'lf' : 'none';
  const hasReturns = /\r(?!\n)/.test(text);
  const hasPairs = text.includes('\r\n');
  const hasFeeds = /(?<!\r)\n/.test(text);
  if (Number(hasReturns) + Number(hasPairs) + Number(hasFeeds) > 1) return 'mixed';
  if (hasPairs) return 'crlf';
  return hasFeeds ? 'lf' : 'cr';
}

const MAX_BYTES_DEFAULT = 1_048_576;
const MAX_BYTES_LIMIT = 64 * 1024 * 1024;

/** An answer as text has room for 40 parts. */
const MAX_FILES = 32;

const args = z.strictObject({
  path: z
    .union([z.string().min(1), z.array(z.string()).min(1).max(MAX_FILES)])
    .describe('File, or a list of files, relative to the workspace root'),
  max_bytes: z.int().min(1).max(MAX_BYTES_LIMIT).default(MAX_BYTES_DEFAULT).describe('Bytes to return at most'),
  offset: z.int().min(1).optional().describe('First line to return, from 1'),
  limit: z.int().min(1).optional().describe('Lines to return at most'),
  encoding: z
    .enum(['auto', ...TEXT_ENCODINGS, 'base64'])
    .default('auto')
    .describe('How to decode the bytes; auto detects it'),
  line_numbers: z.boolean().optional().describe('Number the lines in the text'),
});

const file = z.strictObject({
  content: z.string().describe('The text, byte order mark included; base64 when `encoding` says so'),
  sha256: z
    .string()
    .nullable()
    .describe('Hex digest of the whole file, also when the content is a part of it; null beyond 1 GiB'),
  size: z.int().describe('Size of the whole file in bytes'),
  truncated: z.boolean().describe('True when what was asked for is longer than max_bytes'),
  encoding: z.enum([...TEXT_ENCODINGS, 'base64']).describe('What the content was decoded from'),
  binary: z.literal(true).optional().describe('Present when the bytes are not text'),
  bom: z.literal(true).optional().describe('Present when the file begins with a byte order mark'),
  newline: z.enum(NEWLINE_STYLES).optional().describe('How the lines of the content end'),
  lines: z
    .strictObject({ start: z.int(), end: z.int() })
    .optional()
    .describe('First and last line returned, with `offset` or `limit`; end is less than start when there are none'),
  total_lines: z
    .int()
    .optional()
    .describe('Lines of the whole file, with `offset` or `limit`; missing beyond 1 GiB, where reading stops early'),
});

const failed = z.strictObject({
  path: z.string(),
  error: z.strictObject({ code: z.string(), message: z.string(), reason: z.string().exactOptional() }),
});

const data = file.extend({
  files: z
    .array(z.union([file.extend({ path: z.string() }), failed]))
    .exactOptional()
    .describe('Each file, or why it was not read, for a list of files; the fields above are then sums, or empty'),
});

type Args = z.output<typeof args>;
type OneFile = Args & { readonly path: string };
type FileData = z.output<typeof file>;
type Data = z.output<typeof data>;
type SeveralData = NonNullable<Data['files']>;

export const fileRead = defineTool({
  name: 'file_read',
  category: 'fs',
  title: 'Read file',
  summary: 'Read files inside the workspace',
  policyNotes: 'Paths that leave the workspace are refused; only regular files are read',
  args,
  data,
  annotations: {
    kind: 'read',
    side_effect_level: 'read_only',
    arg_schema: {
      path_params: ['path'],
      arg_aliases: { file: 'path', file_path: 'path', paths: 'path', files: 'path' },
      required: ['path'],
    },
    capabilities: { workspace: ['read_text'] },
  },
  effect: 'read',
  risk: 'low',
  knownAs: {
    names: ['read', 'readfile', 'readtextfile', 'readmanyfiles', 'readmultiplefiles', 'view', 'cat'],
    args: { file_path: 'path', path: 'path', paths: 'path', target_file: 'path', offset: 'offset', limit: 'limit' },
  },
  idempotent: true,
  timeoutMs: 10_000,
  measure: ({ content, files = [] }) =>
    files.reduce((sum, one) => sum + ('content' in one ? one.content.length : 0), content.length),
  hasLargeAnswers: true,
  present: presentRead,
  run(wanted, context) {
    const { path } = wanted;
    return typeof path === 'string' ? readOne(wanted as OneFile, context) : readSeveral(path, wanted, context);
  },
});

function readOne(wanted: OneFile, context: ToolContext): FileData | Promise<FileData> {
  if (wanted.offset !== undefined || wanted.limit !== undefined) return readLines(wanted, context);
  const read = context.workspace.readFile(wanted.path, new LazyReadOptions(context, wanted.max_bytes, BEGINNING));
  return read instanceof Promise
    ? read.then((content) => answerFile(wanted, content, context))
    : answerFile(wanted, read, context);
}

/** What one cannot be read for is said in its place. The files share `max_bytes`; what a short one leaves is for the others. */
async function readSeveral(paths: readonly string[], wanted: Args, context: ToolContext): Promise<Data> {
  const { max_bytes: most } = wanted;
  const sizes: number[] = [];
  for (const path of paths) sizes.push(await sizeBefore(path, most, context));
  const shares = shareOut(sizes, most);
  const files: SeveralData = [];
  for (const [at, path] of paths.entries()) {
    context.signal.throwIfAborted();
    try {
      files.push({ path, ...(await readOne({ ...wanted, path, max_bytes: Math.max(1, shares[at] ?? 1) }, context)) });
    } catch (thrown) {
      if (!isToolError(thrown) || !OF_ONE_FILE.has(thrown.code)) throw thrown;
      const { reason } = thrown.details;
      const { code, message } = thrown;
      files.push({ path, error: { code, message, ...(typeof reason === 'string' ? { reason } : {}) } });
    }
  }
  const read = files.filter((one): one is FileData & { path: string } => 'content' in one);
  if (read.length === 0) throw noneRead(files);
  const refused = files.flatMap((one) => ('error' in one && one.error.code === 'E_POLICY' ? [one.path] : []));
  if (refused.length > 0) context.record({ refused_paths: refused });
  return {
    content: '',
    sha256: null,
    size: read.reduce((sum, { size }) => sum + size, 0),
    truncated: read.some(({ truncated }) => truncated),
    encoding: 'utf-8',
    files,
  };
}

function noneRead(files: SeveralData): ToolError {
  const errors = files.flatMap((one) => ('error' in one ? [one.error.message] : []));
  return new ToolError('E_FILE_IO', `None of ${counted(files.length, 'file')} was read: ${errors[0]}`, {
    path: files[0]?.path ?? 'path',
    details: { reason: 'none_read', errors, next: 'Check the spelling, or find the files with fs_list' },
  });
}

/** Errors that say nothing about the other files. */
const OF_ONE_FILE: ReadonlySet<string> = new Set(['E_FILE_IO', 'E_POLICY']);

/** Anything but a readable plain file counts as large; reading it then reports the problem. */
async function sizeBefore(path: string, most: number, { workspace }: ToolContext): Promise<number> {
  try {
    const stat = await workspace.stat(path);
    return stat?.type === 'symlink' ? most : Math.min(stat?.size ?? 0, most);
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    return 0;
  }
}

function answerFile({ path, encoding }: OneFile, read: FileContent, context: ToolContext): FileData {
  const { bytes, size, truncated } = read;
  const whole = { sha256: digestOf(read, path, context), size, truncated };
  if (encoding === 'base64') return { content: base64(bytes), ...whole, encoding };
  const found = encoding === 'auto' ? detectEncoding(bytes, { isPrefix: truncated }) : { encoding, hasMark: false };
  if (found.encoding === 'binary') return { content: base64(bytes), ...whole, encoding: 'base64', binary: true };
  const content = decodeText(bytes, found.encoding, { isPrefix: truncated });
  if (content === undefined) throw otherEncoding(path, found.encoding);
  const hasMark = content.charCodeAt(0) === 0xfeff;
  return { content, ...whole, encoding: found.encoding, ...(hasMark ? BOM : {}), newline: newlineStyle(content) };
}

/** What `max_bytes` asks for is all that is wanted of a huge file. */
const BEGINNING = { isEnough: () => true };
const BOM = { bom: true } as const;

/** Null for a huge file, with a word about how to get at the rest of it. */
function digestOf({ sha256, size, isPartial }: FileContent, path: string, { warn }: ToolContext): string | null {
  if (isPartial !== true) return sha256;
  warn({
    code: 'E_FILE_IO',
    message: `Only a part of the file was read, and it has no digest: ${path} is ${size} bytes long`,
    path,
    details: { reason: 'huge_file', size, next: 'Give offset and limit for other lines, or search it with grep' },
  });
  return null;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** Options of a read whose cancel signal is looked at only when the file is large: asking for it makes one. */
class LazyReadOptions implements ReadOptions {
  readonly maxBytes: number;
  readonly onPiece?: (piece: Uint8Array) => void;
  readonly isEnough?: () => boolean;
  readonly #context: Pick<ToolContext, 'signal'>;

  constructor(
    context: Pick<ToolContext, 'signal'>,
    maxBytes: number,
    { onPiece, isEnough }: Pick<ReadOptions, 'onPiece' | 'isEnough'> = {},
  ) {
    this.#context = context;
    this.maxBytes = maxBytes;
    if (isEnough !== undefined) this.isEnough = isEnough;
    if (onPiece !== undefined) this.onPiece = onPiece;
  }

  get signal(): AbortSignal {
    return this.#context.signal;
  }
}

function readLines(wanted: OneFile, context: ToolContext): FileData | Promise<FileData> {
  const { path, max_bytes, offset = 1, limit = Number.MAX_SAFE_INTEGER, encoding } = wanted;
  if (encoding === 'base64') throw noLines(path, 'base64 has no lines');
  const window = new LineWindow({ first: offset, count: limit, maxBytes: max_bytes, encoding });
  const options = new LazyReadOptions(context, 0, {
    onPiece: (piece) => window.add(piece),
    isEnough: () => window.isComplete,
  });
  const answer = (read: FileContent): FileData => answerLines(wanted, read, { window, context });
  const read = context.workspace.readFile(path, options);
  return read instanceof Promise ? read.then(answer) : answer(read);
}

function answerLines(
  wanted: OneFile,
  read: FileContent,
  parts: { window: LineWindow; context: ToolContext },
): FileData {
  const { path, offset = 1 } = wanted;
  const { bytes, last, total, isCut, ...detected } = parts.window.finish();
  if (offset > Math.max(total, 1)) warnPastEnd(parts.context, { path, offset, total });
  const { content, encoding } = decodeLines(path, bytes, detected);
  return {
    content,
    sha256: digestOf(read, path, parts.context),
    size: read.size,
    truncated: isCut,
    encoding,
    ...(detected.hasMark ? BOM : {}),
    newline: newlineStyle(content),
    lines: { start: offset, end: last },
    ...(read.isPartial === true ? {} : { total_lines: total }),
  };
}

/** The encoding was detected from the beginning of the file; later lines may differ. */
function decodeLines(path: string, bytes: Buffer, { encoding }: DetectedEncoding) {
  if (encoding === 'binary') throw noLines(path, 'the file is binary');
  const content = decodeText(bytes, encoding);
  if (content !== undefined) return { content, encoding };
  const nearer = detectEncoding(bytes).encoding;
  if (encoding !== 'utf-8' || nearer !== 'latin1') throw otherEncoding(path, encoding);
  return { content: bytes.toString('latin1'), encoding: nearer };
}

function otherEncoding(path: string, encoding: TextEncoding): ToolError {
  return new ToolError('E_FILE_IO', `File is not valid ${encoding}: ${path}`, {
    path,
    details: { reason: 'encoding', next: 'Read it with encoding auto, or with base64 for the exact bytes' },
  });
}

function noLines(path: string, why: string): ToolError {
  return new ToolError('E_FILE_IO', `File cannot be read by lines, ${why}: ${path}`, {
    path,
    details: { reason: 'binary', next: 'Leave out offset and limit, or name a text encoding' },
  });
}

function warnPastEnd(context: ToolContext, at: { path: string; offset: number; total: number }): void {
  context.warn({
    code: 'E_FILE_IO',
    message: `File has only ${at.total} lines: ${at.path}`,
    path: at.path,
    details: { reason: 'past_end', offset: at.offset, total_lines: at.total },
  });
}

const PICTURES: readonly (readonly [RegExp, string])[] = [
  [/^iVBORw0KGgo/, 'image/png'],
  [/^\/9j\//, 'image/jpeg'],
  [/^R0lGOD[dl]h/, 'image/gif'],
  [/^UklGR.{6}(?:V0VCU|XRUJQ)/, 'image/webp'],
  [/^JVBERi0/, 'application/pdf'],
];

function presentRead({ files, ...one }: Data, wanted: Args): ToolText {
  const { path } = wanted;
  if (files === undefined) return presentFile(one, { ...wanted, path: String(path) });
  return { parts: files.flatMap((read) => presentPart(read, wanted)) };
}

/** The line that tells of a file stands above its content. */
function presentPart(read: SeveralData[number], wanted: Args): readonly AnswerPart[] {
  if ('error' in read)
    return [{ type: 'text', title: `=== ${shownName(read.path)}: not read: ${read.error.message}`, text: '' }];
  const { head = '', parts = [] } = presentFile(read, { ...wanted, path: read.path });
  const [first, ...others] = parts;
  if (first?.type === 'text') return [{ ...first, title: `=== ${head}` }, ...others];
  return [{ type: 'text', title: `=== ${head}`, text: '' }, ...parts];
}

function presentFile(read: FileData, wanted: OneFile): ToolText {
  const { content, sha256, size, encoding, lines, total_lines, truncated } = read;
  const name = shownName(wanted.path);
  const version = sha256 === null ? 'no digest' : `sha256 ${sha256}`;
  if (encoding === 'base64') return presentBytes(read, wanted, `${name}: ${size} bytes, ${version}`);
  const first = lines?.start ?? 1;
  const count = content === '' ? 0 : countLines(content) - (content.endsWith('\n') ? 1 : 0);
  const last = first + count - 1;
  const all = total_lines ?? (truncated ? undefined : last);
  const range =
    lines === undefined && !truncated ? counted(count, 'line') : `lines ${first} to ${last} of ${all ?? 'more'}`;
  const odd = encoding === 'utf-8' ? '' : `, ${encoding}`;
  const more = truncated ? `\n[max_bytes reached: the rest begins at ${from(wanted, Math.max(first, last))}]` : '';
  return {
    head: `${name}: ${range}, ${size} bytes${odd}, ${version}${more}`,
    parts: [
      {
        type: 'text',
        text: wanted.line_numbers ? numbered(content, first) : content,
        lines: count,
        rest: ({ items }) => (items > 0 ? from(wanted, first + items) : longLine(wanted, first)),
      },
    ],
  };
}

function from({ path, line_numbers }: OneFile, offset: number): string {
  return callText('file_read', { path, offset, ...(line_numbers ? { line_numbers } : {}) });
}

function longLine({ path }: OneFile, line: number): string {
  return `line ${line} is too long to be shown whole; search it with ${callText('grep', { pattern: '…', glob: path })}`;
}

function numbered(content: string, first: number): string {
  const lines = content.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const width = String(first + lines.length - 1).length;
  return lines.map((line, at) => `${String(first + at).padStart(width)}  ${line}`).join('\n');
}

/** A picture or document whole as a block; any other bytes only when they were asked for. */
function presentBytes({ content, size, truncated }: FileData, { path, encoding }: OneFile, head: string): ToolText {
  if (encoding === 'base64') return { head: `${head}, as base64`, parts: [{ type: 'text', text: content }] };
  const mimeType = PICTURES.find(([begin]) => begin.test(content))?.[1];
  if (mimeType === undefined)
    return { head: `${head}, binary: read it with ${callText('file_read', { path, encoding: 'base64' })}` };
  if (truncated)
    return {
      head: `${head}, ${mimeType}, not shown because only a part was read: ${callText('file_read', { path, max_bytes: size })}`,
    };
  const isPicture = mimeType.startsWith('image/');
  const uri = `file:///${path.replace(/^\/+/, '').split('/').map(encodeURIComponent).join('/')}`;
  const block = isPicture
    ? { type: 'image', data: content, mimeType }
    : { type: 'resource', resource: { uri, mimeType, blob: content } };
  return { head: `${head}, ${mimeType}`, parts: [{ type: 'block', block }] };
}
