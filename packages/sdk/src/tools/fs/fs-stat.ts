/**
 * fs_stat: what is at one or several paths: type, size, mode, time, version.
 *
 * A link is described itself and not followed. A path with nothing there is an answer, not an error.
 */
import { isToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { resolveDots } from '../../contracts/path-text.ts';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import type { ToolText } from '../../contracts/tool-text.ts';
import type { FileStat } from '../../contracts/workspace.ts';
import { escapeGlob, MAX_GLOB_LENGTH } from '../../glob/glob-syntax.ts';
import { counted, shownName } from '../../present/rows.ts';
import { LineWindow } from '../../text/line-window.ts';
import { readExisting } from './read-existing.ts';

const MAX_PATHS = 100;

const args = z.strictObject({
  path: z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1).max(MAX_PATHS)])
    .describe('File or folder, or a list of them, relative to the workspace root'),
});

const data = z.strictObject({
  entries: z
    .array(
      z.strictObject({
        path: z.string().describe('As it was given'),
        type: z.enum(['file', 'directory', 'symlink', 'other', 'missing']),
        size: z.int().exactOptional().describe('Bytes; of a link the length of its text'),
        mode: z.string().exactOptional().describe('Permission bits in octal, such as 0644'),
        mtime: z.string().exactOptional().describe('Time of the last change of the content, ISO 8601'),
        sha256: z
          .string()
          .exactOptional()
          .describe('Version of a file, as expected_sha256 takes it; none beyond 1 GiB'),
        lines: z.int().exactOptional().describe('Lines of a text file; missing for other bytes'),
        target: z.string().exactOptional().describe('Text of a link'),
        ignored: z.boolean().exactOptional().describe('Whether listings leave it out because of an ignore file'),
        error: z.string().exactOptional().describe('Why the content was not read'),
      }),
    )
    .describe('In the order of the paths'),
});

type Data = z.output<typeof data>;
type Entry = Data['entries'][number];

export const fsStat = defineTool({
  name: 'fs_stat',
  category: 'fs',
  title: 'Describe files',
  summary: 'Type, size, mode, time, version and lines of files and folders',
  policyNotes: 'Paths that leave the workspace are refused; links are described, not followed',
  args,
  data,
  annotations: {
    kind: 'read',
    side_effect_level: 'read_only',
    arg_schema: {
      path_params: ['path'],
      arg_aliases: { paths: 'path', file: 'path', files: 'path', file_path: 'path' },
      required: ['path'],
    },
    capabilities: { workspace: ['read_text'] },
  },
  effect: 'read',
  risk: 'low',
  knownAs: { names: ['stat', 'getfileinfo', 'fileinfo'], args: { path: 'path', file_path: 'path', paths: 'path' } },
  idempotent: true,
  timeoutMs: 10_000,
  present: presentStat,
  async run({ path }, context) {
    const paths = typeof path === 'string' ? [path] : path;
    const entries: Entry[] = [];
    for (const one of paths) {
      context.signal.throwIfAborted();
      entries.push(await describeEntry(one, context));
    }
    const ignored = await ignoredAmong(entries, context);
    return { entries: entries.map((entry, at) => ({ ...entry, ...ignored[at] })) };
  },
});

async function describeEntry(path: string, context: ToolContext): Promise<Entry> {
  const stat = await context.workspace.stat(path);
  if (stat === null) {
    // Fails for a path that cannot exist, such as one below a file.
    await readExisting(path, context, 0);
    return { path, type: 'missing' };
  }
  const { type, size, mode, mtimeMs, target } = stat;
  return {
    path,
    type,
    size,
    mode: mode.toString(8).padStart(4, '0'),
    mtime: new Date(mtimeMs).toISOString(),
    ...(target === undefined ? {} : { target }),
    ...(await contentFacts(path, stat, context)),
  };
}

/** A file that may not be read still has its size. */
async function contentFacts(
  path: string,
  { type }: FileStat,
  { workspace, signal }: ToolContext,
): Promise<Partial<Entry>> {
  if (type !== 'file') return {};
  // Counts lines and keeps none of them.
  const window = new LineWindow({ first: Number.MAX_SAFE_INTEGER, count: 1, maxBytes: 0, encoding: 'auto' });
  try {
    const file = await workspace.readFile(path, {
      maxBytes: 0,
      signal,
      onPiece: (piece) => window.add(piece),
      isEnough: () => true,
    });
    if (file.isPartial === true) return {};
    const { encoding, total } = window.finish();
    return { sha256: file.sha256, ...(encoding === 'binary' ? {} : { lines: total }) };
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    return { error: thrown.message };
  }
}

/** What listings show with ignored files and leave out without. Nothing for what they never show, such as `.git`. */
async function ignoredAmong(
  entries: readonly Entry[],
  { workspace, signal }: ToolContext,
): Promise<readonly Pick<Entry, 'ignored'>[]> {
  const names = entries.map(({ path, type }) => (type === 'missing' ? undefined : plainName(path)));
  const listed = async (includeIgnored: boolean, wanted: readonly string[]): Promise<ReadonlySet<string>> => {
    if (wanted.length === 0) return new Set();
    const query = { includeHidden: true, includeDirectories: true, maxResults: wanted.length, signal };
    const { paths } = await workspace.list({ ...query, includeIgnored, globs: wanted.map(escapeGlob) });
    return new Set(paths.map((path) => path.replace(/\/$/, '')));
  };
  const known = [...new Set(names.filter((name) => name !== undefined))];
  const shown = await listed(false, known);
  const left = await listed(
    true,
    known.filter((name) => !shown.has(name)),
  );
  return names.map((name) => {
    if (name === undefined) return {};
    return shown.has(name) ? { ignored: false } : left.has(name) ? { ignored: true } : {};
  });
}

/** Undefined for the root, which no listing shows, and for what is too long to ask for. */
function plainName(path: string): string | undefined {
  const name = path.startsWith('/') ? undefined : resolveDots(path)?.join('/');
  return name === undefined || name === '' || escapeGlob(name).length > MAX_GLOB_LENGTH ? undefined : name;
}

function presentStat({ entries }: Data): ToolText {
  return { parts: [{ type: 'text', text: entries.map(presentEntry) }] };
}

function presentEntry({ path, type, size, mode, mtime, sha256, lines, target, ignored, error }: Entry): string {
  const name = shownName(path);
  if (type === 'missing') return `${name}: missing`;
  const facts = [
    target === undefined ? type : `${type} to ${shownName(target)}`,
    ...(type === 'directory' ? [] : [`${size} bytes`]),
    ...(lines === undefined ? [] : [counted(lines, 'line')]),
    `mode ${mode}`,
    `changed ${mtime}`,
    ...(ignored === true ? ['ignored'] : []),
    ...(sha256 === undefined ? [] : [`sha256 ${sha256}`]),
    ...(error === undefined ? [] : [`not read: ${shownName(error)}`]),
  ];
  return `${name}: ${facts.join(', ')}`;
}
