/** grep: lines that match a regular expression, or only the files that hold one, or how many each holds. */
import { isToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import type { SearchMatch } from '../../contracts/search.ts';
import { defineTool } from '../../contracts/tool.ts';
import { callText, type ToolText } from '../../contracts/tool-text.ts';
import { counted, shownName } from '../../present/rows.ts';
import { globsArgument, MAX_GLOB_CHARACTERS } from './glob-argument.ts';

const MAX_PATTERN_CHARACTERS = 10_240;
const MAX_RESULTS_DEFAULT = 1000;
const MAX_RESULTS_LIMIT = 100_000;
const MAX_CONTEXT = 50;
const SNIPPET_CHARACTERS = 500;

const args = z
  .strictObject({
    pattern: z
      .string()
      .max(MAX_PATTERN_CHARACTERS)
      .describe('Regular expression, without look-around and back references'),
    glob: z
      .string()
      .min(1)
      .max(MAX_GLOB_CHARACTERS)
      .optional()
      .describe('Files to search, as in fs_list; all of them when left out'),
    case_sensitive: z.boolean().default(false).describe('Distinguish upper and lower case'),
    max_results: z
      .int()
      .min(1)
      .max(MAX_RESULTS_LIMIT)
      .default(MAX_RESULTS_DEFAULT)
      .describe('Matches or files at most'),
    context: z.int().min(0).max(MAX_CONTEXT).default(0).describe('Lines to show before and after each match'),
    files_only: z.boolean().default(false).describe('Only name matching files'),
    count: z.boolean().default(false).describe('Only count matching lines by file'),
    multiline: z.boolean().default(false).describe('Let a match span lines'),
    word: z.boolean().default(false).describe('Match whole words only'),
    fixed: z.boolean().default(false).describe('The pattern is plain text'),
    include_hidden: z.boolean().default(false).describe('Also names that begin with a dot'),
    include_ignored: z.boolean().default(false).describe('Also what .gitignore leaves out'),
  })
  .refine(({ files_only, count }) => !(files_only && count), 'files_only and count exclude each other');

const match = z.strictObject({
  file: z.string().describe('Relative to the workspace root'),
  line: z.int().describe('From 1'),
  col: z.int().describe('Where the first match of the line begins, from 1, in characters'),
  snippet: z.string().describe(`The line, or ${SNIPPET_CHARACTERS} characters of it around the match`),
  cut: z.literal(true).optional().describe('Present when the line is longer than the snippet'),
  before: z.array(z.string()).optional().describe('Lines of context, when asked for'),
  after: z.array(z.string()).optional().describe('Lines of context, when asked for'),
});

const data = z.strictObject({
  matches: z.array(match).describe('By file and line; empty with files_only and count'),
  files: z.array(z.string()).optional().describe('With files_only: sorted'),
  counts: z
    .array(z.strictObject({ file: z.string(), count: z.int() }))
    .optional()
    .describe('With count: matching lines of each file that has any'),
  truncated: z.boolean().describe('There is more than max_results: narrow the pattern or the glob'),
  partial: z.boolean().describe('Time ran out; this is what was found so far'),
});

export const grep = defineTool({
  name: 'grep',
  category: 'fs',
  title: 'Search text',
  summary: 'Search the text of files inside the workspace by regular expression',
  policyNotes: 'Globs that leave the workspace are refused; links are never followed; binary files are skipped',
  args,
  data,
  isDataProven: true,
  annotations: {
    kind: 'search',
    side_effect_level: 'read_only',
    arg_schema: {
      arg_aliases: { query: 'pattern', regex: 'pattern', include: 'glob', path: 'glob' },
      required: ['pattern'],
    },
    capabilities: { workspace: ['search'] },
  },
  effect: 'read',
  risk: 'low',
  knownAs: {
    names: ['grep', 'search', 'searchfiles', 'searchfilecontent', 'ripgrep', 'rg'],
    args: { pattern: 'pattern', query: 'pattern', regex: 'pattern', path: 'glob' },
  },
  idempotent: true,
  globArgs: ['glob'],
  timeoutMs: 10_000,
  hasLargeAnswers: true,
  present: presentHits,
  async run(asked, { workspace, signal }) {
    const { matches, counts, truncated, interrupted } = await workspace.search({
      pattern: asked.pattern,
      fixed: asked.fixed,
      caseSensitive: asked.case_sensitive,
      word: asked.word,
      multiline: asked.multiline,
      globs: asked.glob === undefined ? [] : globsArgument(asked.glob),
      includeHidden: asked.include_hidden,
      includeIgnored: asked.include_ignored,
      context: asked.context,
      report: reportOf(asked),
      maxResults: asked.max_results,
      maxLineLength: SNIPPET_CHARACTERS,
      signal,
    });
    // Half an answer is worth having when time ran out, not when the caller is gone.
    if (interrupted && !isDeadline(signal.reason)) throw signal.reason;
    const ending = { truncated, partial: interrupted };
    if (asked.files_only) return { matches: [], files: matches.map(({ file }) => file), ...ending };
    if (asked.count) return { matches: [], counts: [...counts], ...ending };
    return { matches: matches.map((one) => toWire(one, asked.context > 0)), ...ending };
  },
});

function reportOf(asked: { readonly files_only: boolean; readonly count: boolean }): 'lines' | 'files' | 'counts' {
  if (asked.count) return 'counts';
  return asked.files_only ? 'files' : 'lines';
}

function isDeadline(reason: unknown): boolean {
  return isToolError(reason) && reason.code === 'E_TIMEOUT';
}

function toWire({ file, line, column, text, cut, before, after }: SearchMatch, hasContext: boolean) {
  const hit = { file, line, col: column, snippet: text };
  // Nearly all are plain, and there may be very many.
  if (!cut && !hasContext) return hit;
  return {
    ...hit,
    ...(cut ? { cut: true as const } : {}),
    ...(hasContext ? { before: [...before], after: [...after] } : {}),
  };
}

type Hit = z.output<typeof match>;

function presentHits(found: z.output<typeof data>, asked: z.output<typeof args>): ToolText {
  const { matches, files, counts, truncated, partial } = found;
  const limits = [
    ...(truncated ? [`more than max_results ${asked.max_results}: narrow the pattern or the glob`] : []),
    ...(partial ? ['time ran out: this is what was found so far'] : []),
  ];
  const head = (what: string): string => [what, ...limits].join('; ');
  if (files !== undefined) {
    return {
      head: head(`${counted(files.length, 'file')} with matches`),
      parts: [{ type: 'text', text: files.map(shownName) }],
    };
  }
  if (counts !== undefined) {
    const rows = counts.map(({ file, count }) => `${shownName(file)}: ${count}`);
    return { head: head(`${counted(counts.length, 'file')} with matches`), parts: [{ type: 'text', text: rows }] };
  }
  const groups = [...Map.groupBy(matches, ({ file }) => file)];
  const text = groups.flatMap(([file, hits]) =>
    hits.map((hit, at) => (at === 0 ? `${shownName(file)}\n` : '') + hitRow(hit)),
  );
  const same = {
    pattern: asked.pattern,
    ...(asked.fixed ? { fixed: true } : {}),
    ...(asked.case_sensitive ? { case_sensitive: true } : {}),
  };
  const rest = ({ items }: { readonly items: number }): string => {
    const overview = callText('grep', {
      ...same,
      ...(asked.glob === undefined ? {} : { glob: asked.glob }),
      count: true,
    });
    return `${callText('grep', { ...same, glob: matches[items]?.file })} for the next file; ${overview} for all files`;
  };
  const what =
    matches.length === 0
      ? 'no matches'
      : `${counted(matches.length, 'match', 'matches')} in ${counted(groups.length, 'file')}`;
  return { head: head(what), parts: [{ type: 'text', text, rest }] };
}

/** `12: text` for a match, `11- text` for the lines around it. */
function hitRow({ line, snippet, before = [], after = [] }: Hit): string {
  const around = (text: string, at: number): string => `  ${at}- ${text}`;
  return [
    ...before.map((text, at) => around(text, line - before.length + at)),
    `  ${line}: ${snippet}`,
    ...after.map((text, at) => around(text, line + 1 + at)),
  ].join('\n');
}
