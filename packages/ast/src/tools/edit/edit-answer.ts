/** The answer of ast_edit, for an edit that was made and for one that was only planned. */
import { z } from 'zod';
import { builtOnce } from '../../plugin/built-once.ts';

export const editAnswer = builtOnce(() => {
  const place = { file: z.string(), line: z.int(), col: z.int() };
  return z.strictObject({
    edited: z.boolean().describe('False for a dry run'),
    files_touched: z.array(z.string()).describe('Files that were, or would be, changed'),
    edits: z.int().describe('Places'),
    confidence: z
      .enum(['proven', 'resolver', 'server', 'tree'])
      .describe(
        'proven: scopes and language server agree; resolver, server: only one could be asked; tree: syntax is enough',
      ),
    residual: z
      .array(z.strictObject({ ...place, kind: z.string() }))
      .describe('Places that have the old name and were left unchanged'),
    renamed_ids: z.record(z.string(), z.string()).describe('Old node id → new one'),
    warnings: z.array(z.string()),
    diff: z.string().optional().describe('Unified; with dry_run'),
    diff_truncated: z.literal(true).optional(),
    build: z.enum(['passed', 'failed_before', 'none']).optional().describe('With validate_build'),
    parse_errors: z
      .array(z.strictObject({ ...place, message: z.string() }))
      .optional()
      .describe('Syntax errors that were not there before, in languages whose parser is not always right'),
    diagnostics: z
      .array(
        z.strictObject({
          ...place,
          severity: z.enum(['error', 'warning', 'information', 'hint']),
          message: z.string(),
          code: z.string().optional(),
          source: z.string().optional(),
        }),
      )
      .optional()
      .describe('What running language servers find wrong now and did not before'),
  });
});

export type EditAnswer = z.output<ReturnType<typeof editAnswer>>;
