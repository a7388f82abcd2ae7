/**
 * fs_tree: a folder as a tree, without what git ignores, and how much is in each folder.
 *
 * Without `depth` it goes as deep as fits into `max_entries`, so that the first look at a large workspace shows all of its
 * upper levels instead of the first folder in full.
 */
import { ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { resolveDots } from '../../contracts/path-text.ts';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import { callText, type ToolText } from '../../contracts/tool-text.ts';
import type { EntryType } from '../../contracts/workspace.ts';
import { escapeGlob } from '../../glob/glob-syntax.ts';
import { counted, shownName } from '../../present/rows.ts';

const ENTRIES_DEFAULT = 300;
const ENTRIES_LIMIT = 10_000;
const MAX_DEPTH = 100;
/** Names that are looked at; beyond them the counts are lower bounds. */
const MAX_NAMES = 200_000;

const args = z.strictObject({
  path: z.string().min(1).default('.').describe('Folder, relative to the workspace root'),
  depth: z.int().min(1).max(MAX_DEPTH).optional().describe('Levels to show; by default as many as fit max_entries'),
  max_entries: z.int().min(1).max(ENTRIES_LIMIT).default(ENTRIES_DEFAULT).describe('Entries to return at most'),
  after: z.string().min(1).optional().describe('Continue behind this entry: next of the answer before'),
  include_hidden: z.boolean().default(false).describe('Also names that begin with a dot; `.git` never'),
  include_ignored: z.boolean().default(false).describe('Also what .gitignore leaves out'),
});

const data = z.strictObject({
  path: z.string().describe('The folder'),
  depth: z.int().describe('Levels shown'),
  files: z.int().describe('Files and links below the folder, at any depth'),
  folders: z.int().describe('Folders below it'),
  partial: z.boolean().describe('True when there are more than 200,000 names: counts are lower bounds then'),
  entries: z
    .array(
      z.strictObject({
        path: z.string().describe('Relative to the workspace root; folders with a trailing slash'),
        files: z.int().exactOptional().describe('Of a folder: files and links below it, at any depth'),
        folders: z.int().exactOptional().describe('Of a folder: folders below it'),
      }),
    )
    .describe('Sorted; what is below a folder follows it'),
  next: z.string().nullable().describe('There is more: call again with this as after'),
});

type Args = z.output<typeof args>;
type Data = z.output<typeof data>;
type Entry = Data['entries'][number];

export const fsTree = defineTool({
  name: 'fs_tree',
  category: 'fs',
  title: 'Show tree',
  summary: 'Show a folder as a tree with counts per folder',
  policyNotes: 'Paths that leave the workspace are refused; links are listed, never followed',
  args,
  data,
  isDataProven: true,
  annotations: {
    kind: 'search',
    side_effect_level: 'read_only',
    arg_schema: {
      path_params: ['path'],
      set_params: ['path'],
      arg_aliases: { folder: 'path', directory: 'path', cursor: 'after' },
    },
    capabilities: { workspace: ['list'] },
  },
  effect: 'read',
  risk: 'low',
  knownAs: { names: ['tree', 'directorytree', 'listtree'], args: { path: 'path', directory: 'path', depth: 'depth' } },
  idempotent: true,
  timeoutMs: 10_000,
  hasLargeAnswers: true,
  present: presentTree,
  async run(wanted, context) {
    const prefix = await folderPrefix(wanted.path, context);
    const { paths, truncated } = await context.workspace.list({
      globs: prefix === '' ? [] : [`${escapeGlob(prefix)}**`],
      includeHidden: wanted.include_hidden,
      includeIgnored: wanted.include_ignored,
      includeDirectories: true,
      maxResults: MAX_NAMES,
      signal: context.signal,
    });
    const all = withCounts(paths.filter((path) => path !== prefix));
    return { ...cutTree(all, { prefix, wanted }), path: prefix === '' ? '.' : prefix, partial: truncated };
  },
});

/** With its slash; empty for the root. Throws for what is no folder, and for a way through a link, which no list follows. */
async function folderPrefix(path: string, { workspace }: ToolContext): Promise<string> {
  const parts = path.startsWith('/') ? [path] : (resolveDots(path) ?? [path]);
  for (let depth = 1; depth <= parts.length; depth++) {
    const folder = parts.slice(0, depth).join('/');
    const stat = await workspace.stat(folder);
    if (stat?.type !== 'directory') throw noFolder(folder, stat?.type);
  }
  return parts.map((part) => `${part}/`).join('');
}

function noFolder(path: string, type: EntryType | undefined): ToolError {
  const isMissing = type === undefined;
  return new ToolError('E_FILE_IO', isMissing ? `Folder not found: ${path}` : `Not a folder but a ${type}: ${path}`, {
    path,
    details: {
      reason: isMissing ? 'ENOENT' : 'ENOTDIR',
      next: isMissing ? 'Check the spelling, or leave path out for the whole workspace' : 'Describe it with fs_stat',
    },
  });
}

/** The same entries, each folder with what is below it. */
function withCounts(paths: readonly string[]): readonly Entry[] {
  const entries: Entry[] = [];
  const open: { path: string; files: number; folders: number }[] = [];
  for (const path of paths) {
    while (open.length > 0 && !path.startsWith(open.at(-1)?.path ?? '')) open.pop();
    const isFolder = path.endsWith('/');
    for (const above of open) above[isFolder ? 'folders' : 'files'] += 1;
    const entry = isFolder ? { path, files: 0, folders: 0 } : { path };
    entries.push(entry);
    if (isFolder) open.push(entry as Required<Entry>);
  }
  return entries;
}

interface Cut {
  readonly prefix: string;
  readonly wanted: Args;
}

function cutTree(all: readonly Entry[], { prefix, wanted }: Cut): Omit<Data, 'path' | 'partial'> {
  const { depth = fittingDepth(all, prefix, wanted.max_entries), max_entries: most, after } = wanted;
  const shown = all.filter(({ path }) => levelOf(path, prefix) <= depth && (after === undefined || path > after));
  const entries = shown.slice(0, most);
  return {
    depth,
    files: all.filter(({ files }) => files === undefined).length,
    folders: all.filter(({ files }) => files !== undefined).length,
    entries,
    next: shown.length > most ? (entries.at(-1)?.path ?? null) : null,
  };
}

function levelOf(path: string, prefix: string): number {
  return path.slice(prefix.length, -1).split('/').length;
}

/** The deepest level down to which everything fits; the first one in any case. */
function fittingDepth(all: readonly Entry[], prefix: string, most: number): number {
  const perLevel: number[] = [];
  for (const { path } of all) {
    const level = levelOf(path, prefix);
    perLevel[level] = (perLevel[level] ?? 0) + 1;
  }
  let depth = 1;
  let sum = perLevel[1] ?? 0;
  while (depth + 1 < perLevel.length && sum + (perLevel[depth + 1] ?? 0) <= most) {
    depth += 1;
    sum += perLevel[depth] ?? 0;
  }
  return depth;
}

function presentTree(tree: Data, { path: _, ...wanted }: Args): ToolText {
  const { path, entries, depth, files, folders, partial, next } = tree;
  const more = (after: string): string =>
    callText('fs_tree', {
      path,
      depth,
      after,
      ...(wanted.max_entries === ENTRIES_DEFAULT ? {} : { max_entries: wanted.max_entries }),
      ...(wanted.include_hidden ? { include_hidden: true } : {}),
      ...(wanted.include_ignored ? { include_ignored: true } : {}),
    });
  const counts = `${partial ? 'more than ' : ''}${counted(files, 'file')}, ${counted(folders, 'folder')}`;
  const isEmpty = files + folders === 0 && !(wanted.include_hidden && wanted.include_ignored);
  const hint = isEmpty ? ', except for what include_hidden and include_ignored would show' : '';
  const rest = next === null ? '' : `\n[max_entries reached: the rest is ${more(next)}]`;
  return {
    head: `${shownName(path)}: ${counts}; ${counted(depth, 'level')} shown${hint}${rest}`,
    parts: [
      {
        type: 'text',
        text: entries.map((entry, at) => treeRow(entry, entries[at - 1]?.path ?? path, path)),
        rest: ({ items }) => more(entries[items - 1]?.path ?? path),
      },
    ],
  };
}

/** The folders above it are named only where the row before lies somewhere else, as on a further page. */
function treeRow({ path, files, folders }: Entry, before: string, root: string): string {
  const prefix = root === '.' ? '' : root;
  const parts = path.slice(prefix.length).split('/');
  const isFolder = parts.at(-1) === '';
  if (isFolder) parts.pop();
  const rows = parts.slice(0, -1).flatMap((name, level) => {
    const folder = `${prefix}${parts.slice(0, level + 1).join('/')}/`;
    return before.startsWith(folder) ? [] : [`${'  '.repeat(level)}${shownName(name)}/ …`];
  });
  const count = isFolder ? `/ ${folderCount(files ?? 0, folders ?? 0)}` : '';
  return [...rows, `${'  '.repeat(parts.length - 1)}${shownName(parts.at(-1) ?? '')}${count}`].join('\n');
}

function folderCount(files: number, folders: number): string {
  return folders === 0 ? counted(files, 'file') : `${counted(files, 'file')}, ${counted(folders, 'folder')}`;
}
