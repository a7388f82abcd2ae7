/** ast_query: declarations by kind, name and place; their text, their outline, or who uses them. */
import { type AnyTool, defineTool } from '@tool-runtime/sdk';
import { z } from 'zod';
import type { UseServices } from '../plugin/code-services.ts';
import { queryAnswer } from './query/answer-schema.ts';
import { whereSchema } from './query/where-schema.ts';

const LIMIT_DEFAULT = 200;
const LIMIT_MAX = 10_000;

const args = z.strictObject({
  where: whereSchema.default({}).describe('Every word narrows; none: everything'),
  node_id: z.string().min(1).max(100).exactOptional().describe('One declaration by its id, instead of where'),
  limit: z.int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT).describe('Declarations or references at most'),
  offset: z.int().min(0).default(0).describe('How many to pass over'),
  view: z
    .enum(['nodes', 'outline', 'references', 'source'])
    .default('nodes')
    .describe(
      'nodes: where and what; source: with their text; outline: whole files in order; references: who uses them',
    ),
});

export type QueryArguments = z.output<typeof args>;

export const astQuery = (use: UseServices): AnyTool =>
  defineTool({
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
    async run(given, context) {
      const { answerQuery } = await import('./query/answer-query.ts');
      return answerQuery(given, use, context);
    },
  });
