/** fs_list: the names that match a glob, sorted, without what git ignores. */
import { z } from 'zod';
import { defineTool } from '../../contracts/tool.ts';
import { callText, type ToolText } from '../../contracts/tool-text.ts';
import { counted, shownName } from '../../present/rows.ts';
import { globsArgument, MAX_GLOB_CHARACTERS } from './glob-argument.ts';

const MAX_RESULTS_DEFAULT = 5000;
const MAX_RESULTS_LIMIT = 100_000;
const MAX_DEPTH = 1000;

const args = z.strictObject({
  glob: z
    .string()
    .min(1)
    .max(MAX_GLOB_CHARACTERS)
    .describe(
      'Paths to list, relative to the workspace root: * and ? within a name, ** across folders, [a-z], {a,b}; or a folder',
    ),
  max_results: z.int().min(1).max(MAX_RESULTS_LIMIT).default(MAX_RESULTS_DEFAULT).describe('Paths to return at most'),
  include_hidden: z.boolean().default(false).describe('Also names that begin with a dot; `.git` never'),
  include_ignored: z.boolean().default(false).describe('Also what .gitignore leaves out'),
  include_directories: z.boolean().default(false).describe('Also matching folders, with a trailing slash'),
  depth: z.int().min(1).max(MAX_DEPTH).optional().describe('Levels to go down'),
});

const data = z.strictObject({
  files: z.array(z.string()).describe('Paths relative to the workspace root, sorted; links are listed, not followed'),
  truncated: z.boolean().describe('More matched than max_results: narrow the glob'),
});

export const fsList = defineTool({
  name: 'fs_list',
  category: 'fs',
  title: 'List files',
  summary: 'List files inside the workspace by glob',
  policyNotes: 'Globs that leave the workspace are refused; links are never followed; sockets and devices are left out',
  args,
  data,
  isDataProven: true,
  annotations: {
    kind: 'search',
    side_effect_level: 'read_only',
    arg_schema: { arg_aliases: { pattern: 'glob', path: 'glob' }, required: ['glob'] },
    capabilities: { workspace: ['list'] },
  },
  effect: 'read',
  risk: 'low',
  knownAs: {
    names: ['glob', 'ls', 'list', 'listdir', 'listdirectory', 'listfiles'],
    args: { pattern: 'glob', path: 'glob', directory: 'glob' },
  },
  idempotent: true,
  globArgs: ['glob'],
  timeoutMs: 10_000,
  hasLargeAnswers: true,
  present: presentList,
  async run({ glob, max_results, include_hidden, include_ignored, include_directories, depth }, { workspace, signal }) {
    const { paths, truncated } = await workspace.list({
      globs: globsArgument(glob),
      maxResults: max_results,
      includeHidden: include_hidden,
      includeIgnored: include_ignored,
      includeDirectories: include_directories,
      ...(depth === undefined ? {} : { depth }),
      signal,
    });
    return { files: [...paths], truncated };
  },
});

function presentList(
  { files, truncated }: z.output<typeof data>,
  { glob, max_results }: z.output<typeof args>,
): ToolText {
  if (files.length === 0) return { head: `no file matches ${shownName(glob)}` };
  const more = truncated ? `, more than max_results ${max_results}: narrow the glob` : '';
  return {
    head: `${counted(files.length, 'path')} for ${shownName(glob)}${more}`,
    parts: [
      {
        type: 'text',
        text: files.map(shownName),
        rest: ({ items }) => `${callText('fs_list', { glob: folderGlob(files[items] ?? glob) })}, and so on by folder`,
      },
    ],
  };
}

function folderGlob(file: string): string {
  const slash = file.lastIndexOf('/');
  return slash < 0 ? file : `${file.slice(0, slash)}/**`;
}
