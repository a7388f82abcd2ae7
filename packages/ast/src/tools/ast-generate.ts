/** ast_generate: builds or refreshes the index of declarations, calls and imports. */
import { defineTool, type ToolText } from '@tool-runtime/sdk';
import { z } from 'zod';
import { builtOnce } from '../plugin/built-once.ts';
import type { UseServices } from '../plugin/code-services.ts';

const MAX_FILES_DEFAULT = 5000;
const MAX_FILES_LIMIT = 200_000;
const FIVE_MINUTES_MS = 300_000;

const args = z.strictObject({
  paths: z
    .array(z.string().min(1).max(1024))
    .max(1000)
    .default([])
    .describe('Files, folders or globs; none: the whole workspace without what git ignores'),
  language: z.string().min(1).max(50).exactOptional().describe('Only files in this language'),
  incremental: z.boolean().default(true).describe('Leave unchanged files alone; false parses them again'),
  max_files: z.int().min(1).max(MAX_FILES_LIMIT).default(MAX_FILES_DEFAULT).describe('Source files at most'),
});

const answer = builtOnce(() =>
  z.strictObject({
    parsed_files: z.int().describe('Files parsed now'),
    unchanged: z.int().describe('Files whose rows are still good'),
    errors: z
      .array(z.strictObject({ path: z.string(), line: z.int(), message: z.string() }))
      .describe('First syntax error of each file that has one'),
    skipped: z.array(z.strictObject({ path: z.string(), reason: z.string() })).describe('Files that are not indexed'),
    files: z.int().describe('Source files this call was about'),
    truncated: z.boolean().describe('There are more than max_files'),
    languages: z.record(z.string(), z.int()).describe('Files of the whole index by language'),
    nodes: z.int().describe('Declarations of the whole index'),
    storage: z.enum(['disk', 'memory']).describe('Where the index is kept'),
    watched: z
      .boolean()
      .describe('Changes by other programs are seen at the next question; otherwise see as_of of an answer'),
    unwatched: z.string().optional().describe('Why folders are not watched'),
  }),
);

export const astGenerate = (use: UseServices) =>
  defineTool({
    name: 'ast_generate',
    category: 'ast',
    title: 'Index code',
    summary: 'Parse source files and index their declarations, calls and imports',
    policyNotes: 'Reads files that git does not ignore; the index is kept in the state folder, not in the workspace',
    args,
    get data() {
      return answer();
    },
    isDataProven: true,
    annotations: {
      kind: 'search',
      side_effect_level: 'read_only',
      arg_schema: { path_params: ['paths'], set_params: ['paths'], arg_aliases: { path: 'paths', globs: 'paths' } },
      capabilities: { ast: ['index'] },
    },
    effect: 'read',
    risk: 'low',
    idempotent: true,
    timeoutMs: FIVE_MINUTES_MS,
    needs: ['ast'],
    present: presentIndex,
    async run({ paths, language, incremental, max_files }, context) {
      const [{ generateIndex }, { pathGlobs }, index] = await Promise.all([
        import('./query/ensure-index.ts'),
        import('./query/path-globs.ts'),
        use(context).index(),
      ]);
      const wanted = language ?? context.registry.ast.language;
      const { parsed, unchanged, errors, skipped, files, truncated } = await generateIndex(
        index,
        {
          paths: pathGlobs(paths),
          incremental,
          maxFiles: max_files,
          ...(wanted === undefined ? {} : { language: wanted }),
        },
        context,
      );
      const { languages, nodes, storage, watched, unwatched } = index.stats();
      return {
        parsed_files: parsed,
        unchanged,
        errors: errors.map((error) => ({ ...error })),
        skipped: skipped.map((one) => ({ ...one })),
        files,
        truncated,
        languages: { ...languages },
        nodes,
        storage,
        watched,
        ...(unwatched === undefined ? {} : { unwatched }),
      };
    },
  });

function presentIndex(built: z.output<ReturnType<typeof answer>>): ToolText {
  const { parsed_files, unchanged, errors, skipped, files, truncated, languages, nodes, unwatched } = built;
  const by = Object.entries(languages).map(([language, count]) => `${language} ${count}`);
  const swept = unwatched === undefined ? '' : `; changes by other programs may be seen late: ${unwatched}`;
  const more = truncated ? ', more than max_files' : '';
  return {
    head: `indexed ${files} files${more}: ${parsed_files} parsed, ${unchanged} unchanged; ${nodes} declarations (${by.join(', ')})${swept}`,
    parts: [
      { type: 'text', text: errors.map(({ path, line, message }) => `error: ${path}:${line}: ${message}`) },
      { type: 'text', text: skipped.map(({ path, reason }) => `skipped: ${path}: ${reason}`) },
    ],
  };
}
