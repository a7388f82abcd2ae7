/** fs_list: the names that match a glob, sorted, without what git ignores. */
import { z } from 'zod';
import { defineTool } from '../../contracts/tool.ts';
import { globArgument, MAX_GLOB_CHARACTERS } from './glob-argument.ts';

const MAX_RESULTS_DEFAULT = 5000;
const MAX_RESULTS_LIMIT = 100_000;
const MAX_DEPTH = 1000;

const args = z.strictObject({
  glob: z
    .string()
    .min(1)
    .max(MAX_GLOB_CHARACTERS)
    .describe('Paths to list, relative to the workspace root: * and ? within a name, ** across folders, [a-z], {a,b}'),
  max_results: z.int().min(1).max(MAX_RESULTS_LIMIT).default(MAX_RESULTS_DEFAULT).describe('Paths to return at most'),
  include_hidden: z.boolean().default(false).describe('Also names that begin with a dot; `.git` never'),
  include_ignored: z
    .boolean()
    .default(false)
    .describe('Also what .gitignore files leave out, and folders of installed packages such as node_modules'),
  include_directories: z.boolean().default(false).describe('Also matching folders, with a trailing slash'),
  depth: z.int().min(1).max(MAX_DEPTH).optional().describe('Levels to go down; 1 lists the workspace root alone'),
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
  idempotent: true,
  timeoutMs: 10_000,
  async run({ glob, max_results, include_hidden, include_ignored, include_directories, depth }, { workspace, signal }) {
    const { paths, truncated } = await workspace.list({
      globs: [globArgument(glob)],
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
