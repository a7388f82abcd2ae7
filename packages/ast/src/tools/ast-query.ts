/** ast_query: declarations by kind, name and place; their text, their outline, or who uses them. */
import { once } from '@tool-runtime/protocol/internal';
import { callText, defineTool, type ToolText } from '@tool-runtime/sdk';
import { z } from 'zod';
import type { UseServices } from '../plugin/code-services.ts';
import {
  type AnswerNode,
  type AnswerReference,
  type QueryAnswerData,
  queryAnswer,
  whereSchema,
} from './query/answer-schema.ts';

const LIMIT_DEFAULT = 200;
const LIMIT_MAX = 10_000;

const args = z.strictObject({
  where: whereSchema.default({}).describe('Every word narrows; none: everything'),
  node_id: z.string().min(1).max(100).exactOptional().describe('Instead of where'),
  pattern: z
    .string()
    .min(1)
    .max(100_000)
    .exactOptional()
    .describe('For matches: code with $NAME for one node, $$$NAME for several; needs where.language'),
  limit: z.int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT).describe('Declarations or references at most'),
  offset: z.int().min(0).default(0).describe('How many to pass over'),
  detail: z.enum(['compact', 'full']).exactOptional().describe('full: with rev, spans and flags'),
  view: z
    .enum(['nodes', 'outline', 'references', 'source', 'matches', 'imports'])
    .default('nodes')
    .describe(
      'source: with text; outline: whole files; references: who uses them; matches: of pattern; imports: of files',
    ),
});

export type QueryArguments = z.output<typeof args>;

export const astQuery = (use: UseServices) => {
  // Asked for once: the loader takes longer to find it again than a question takes.
  const loadAnswer = once(() => import('./query/answer-query.ts'));
  return defineTool({
    name: 'ast_query',
    category: 'ast',
    title: 'Query code',
    summary: 'Find declarations by kind, name, file and visibility, or who uses them',
    policyNotes: 'The first question indexes the workspace; files that git ignores are left out',
    args,
    get data() {
      return queryAnswer();
    },
    isDataProven: true,
    annotations: {
      kind: 'search',
      side_effect_level: 'read_only',
      arg_schema: { arg_aliases: { query: 'where', id: 'node_id' } },
      capabilities: { ast: ['query'] },
    },
    effect: 'read',
    risk: 'low',
    idempotent: true,
    timeoutMs: 60_000,
    maxTimeoutMs: 300_000,
    needs: ['ast'],
    hasLargeAnswers: true,
    present: presentQuery,
    async run(given, context) {
      const { answerQuery } = await loadAnswer();
      return answerQuery(given, use, context);
    },
  });
};

function presentQuery(answer: QueryAnswerData, { offset, view, where, pattern }: QueryArguments): ToolText {
  const { truncated, total, near, left_out: leftOut = [] } = answer;
  const next = (items: number): string =>
    callText('ast_query', {
      ...{ where, ...(view === 'nodes' ? {} : { view }), ...(pattern === undefined ? {} : { pattern }) },
      offset: offset + items,
    });
  const { rows, what } = rowsOf(answer, view);
  const of = truncated && total !== undefined ? ` of ${total}` : '';
  const more = truncated ? `; more: ${next(rows.length)}` : '';
  const hint = near === undefined ? '' : `; nearly the same: ${near.join(', ')}`;
  return {
    head: [`${rows.length}${of} ${what}${more}${hint}`, ...leftOut].join('\n'),
    parts: [{ type: 'text', text: rows, rest: ({ items }) => next(items) }],
  };
}

function rowsOf(
  { nodes, references, confidence, matches, imports }: QueryAnswerData,
  view: QueryArguments['view'],
): { readonly rows: readonly string[]; readonly what: string } {
  if (references !== undefined) {
    return { rows: referenceRows(references), what: `references, by ${confidence ?? 'name'}` };
  }
  if (matches !== undefined) {
    const rows = inFiles(matches, ({ line, col, text, node_id: id }) => {
      const first = text.split('\n', 1)[0] ?? '';
      return `${line}:${col} ${first}${id === undefined ? '' : ` in [${id}]`}`;
    });
    return { rows, what: 'matches' };
  }
  if (imports !== undefined) {
    const rows = inFiles(imports, ({ line, source, name, alias, star }) => {
      const local = alias === undefined ? '' : ` as ${alias}`;
      return `${line} ${star === true ? '*' : (name ?? '')}${local} from ${source}`;
    });
    return { rows, what: 'imports' };
  }
  return { rows: nodeRows(nodes, view), what: 'declarations' };
}

function inFiles<T extends { readonly file: string }>(items: readonly T[], row: (item: T) => string): string[] {
  return items.map((item, at) => `${items[at - 1]?.file === item.file ? '' : `${item.file}\n`}  ${row(item)}`);
}

/** The file where it changes; then `line-end kind signature id`, indented as the code is. */
function nodeRows(nodes: readonly AnswerNode[], view: QueryArguments['view']): readonly string[] {
  return nodes.map((node, at) => {
    const { file, line, end_line, type, subtype, container = '', name, signature, id, rev, depth = 0, source } = node;
    const title = nodes[at - 1]?.file === file ? '' : `${file}\n`;
    const place = container === '' || view === 'outline' ? '' : ` in ${container}`;
    const text = signature === '' ? name : signature;
    const row = `${'  '.repeat(depth + 1)}${line}-${end_line} ${subtype ?? type} ${text}${place} [${id}${rev === undefined ? '' : ` rev ${rev}`}]`;
    return `${title}${row}${source === undefined ? '' : `\n${source}`}`;
  });
}

function referenceRows(references: readonly AnswerReference[]): readonly string[] {
  return inFiles(references, ({ line, col, name, kind, node_id }) => {
    const around = node_id === undefined ? '' : ` in [${node_id}]`;
    return `${line}${col === undefined ? '' : `:${col}`} ${kind} ${name}${around}`;
  });
}
