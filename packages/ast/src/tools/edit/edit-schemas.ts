/**
 * The arguments of ast_edit: those of every operation side by side, as callers of a tool write them. Which of them an
 * operation takes is checked by the editor, which refuses what does not belong to it.
 */
import { z } from 'zod';
import { builtOnce } from '../../plugin/built-once.ts';

/** The answer of ast_edit, for an edit that was made and for one that was only planned. */
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

const path = z.string().min(1).max(4096);
const name = z.string().min(1).max(500);

const operationArguments = {
  operation: z
    .string()
    .min(1)
    .max(100)
    .describe(
      'rename_symbol, replace_body, replace_symbol, insert_before, insert_after, insert_member, delete_symbol, move_symbol, ' +
        'add_import, remove_import, set_doc, rewrite, code_action or batch',
    ),
  target_node_id: z
    .string()
    .min(1)
    .max(100)
    .exactOptional()
    .describe('Declaration by its id; or file and name, or file, line and col'),
  expected_rev: z.string().min(1).max(100).exactOptional().describe('Edit only if the declaration still has this rev'),
  new_name: name.exactOptional().describe('rename_symbol'),
  on_residual: z
    .enum(['refuse', 'report'])
    .exactOptional()
    .describe(
      'rename_symbol: what to do about code that has the old name and could not be resolved; refuse by default',
    ),
  text: z
    .string()
    .max(1_000_000)
    .exactOptional()
    .describe('replace_*, insert_*: source; set_doc: the text alone, without comment signs'),
  include_doc: z.boolean().exactOptional().describe('replace_symbol: also replace doc comment and attributes'),
  allow_rename: z.boolean().exactOptional().describe('replace_symbol: the new text may declare another name'),
  position: z.enum(['first', 'last']).exactOptional().describe('insert_member'),
  force: z.boolean().exactOptional().describe('delete_symbol: also while it is used'),
  to_file: path.exactOptional().describe('move_symbol'),
  reexport: z.boolean().exactOptional().describe('move_symbol: the old file goes on offering the name'),
  file: path.exactOptional().describe('File of the target, of an import or of a code_action'),
  source: z.string().min(1).max(1000).exactOptional().describe('add_import, remove_import: module, without quotes'),
  name: name
    .exactOptional()
    .describe(
      'Target in file, such as parse or Parser.read; imports: imported name, * for all, default for the default',
    ),
  container: z.string().max(2000).exactOptional().describe('With name: its enclosing declarations, joined by dots'),
  alias: name.exactOptional().describe('add_import'),
  type_only: z.boolean().exactOptional().describe('add_import'),
  language: z.string().min(1).max(50).exactOptional().describe('rewrite'),
  pattern: z
    .string()
    .min(1)
    .max(100_000)
    .exactOptional()
    .describe('rewrite: code with $NAME for one node, $$$NAME for several'),
  replacement: z.string().max(100_000).exactOptional().describe('rewrite'),
  constraints: z
    .record(z.string(), z.json())
    .exactOptional()
    .describe('rewrite: further conditions on a $NAME: {regex}, {kind} or {pattern}'),
  paths: z.array(z.string().min(1).max(1024)).max(1000).exactOptional().describe('rewrite: globs; none: all files'),
  max_matches: z.int().min(1).max(100_000).exactOptional().describe('rewrite'),
  line: z.int().min(1).exactOptional().describe('Target or code_action: with file'),
  col: z.int().min(1).exactOptional().describe('Target: with line; rename_symbol takes locals and parameters too'),
  end_line: z.int().min(1).exactOptional().describe('code_action'),
  title: z.string().min(1).max(1000).exactOptional().describe('code_action: of the action'),
  kind: z.string().min(1).max(200).exactOptional().describe('code_action: such as source.organizeImports'),
  operations: z
    .array(z.record(z.string(), z.json()))
    .min(1)
    .max(100)
    .exactOptional()
    .describe('batch: operations with their arguments, applied together or not at all'),
  allow_generated: z.boolean().exactOptional().describe('Also edit generated and vendored files'),
  confirm_large: z.boolean().exactOptional().describe('Go on with more than 2000 edits or 500 files'),
};

const settings = {
  format_on_save: z
    .boolean()
    .exactOptional()
    .describe('Format what is edited; a file that was not formatted before stays so. Default: ast.format_on_save'),
  validate_build: z
    .boolean()
    .exactOptional()
    .describe('Build before and after; an edit that breaks the build is taken back. Default: ast.validate_on_edit'),
  dry_run: z.boolean().default(false).describe('Answer the diff and change nothing'),
  server: z
    .enum(['auto', 'never', 'require'])
    .default('auto')
    .describe('Language server: asked where programs may run, never, or refuse when it may not'),
  timeout_ms: z
    .int()
    .min(1)
    .max(600_000)
    .exactOptional()
    .describe('Time for everything, build included; 30 s by default'),
};

export const editArguments = z.strictObject({ ...operationArguments, ...settings });
export type EditArguments = z.output<typeof editArguments>;

/** The operation alone, as the editor takes it. */
export function operationOf(given: EditArguments): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([key]) => Object.hasOwn(operationArguments, key)));
}
