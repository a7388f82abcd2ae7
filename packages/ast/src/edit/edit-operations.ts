/** The operations of an edit as callers write them, checked. An unknown key is refused, never ignored. */
import { type JsonValue, ToolError } from '@tool-runtime/protocol';
import * as z from 'zod';
import { refuseEdit } from './edit-failures.ts';

const id = z.string().min(1).max(100);
const path = z.string().min(1).max(4_096);
const code = z.string().min(1).max(1_000_000);
const flag = z.boolean().default(false);

/** Edits of generated and vendored files are refused unless allowed. */
const allowance = { allow_generated: flag };
/** More than 2,000 edits or 500 files are refused unless confirmed. */
const confirmation = { confirm_large: flag };
const target = {
  target_node_id: id.optional(),
  /** A place instead of an id: with `name`, or with `line` and `col`. */
  file: path.optional(),
  name: z.string().min(1).max(1_000).optional(),
  container: z.string().max(2_000).optional(),
  line: z.int().min(1).optional(),
  col: z.int().min(1).optional(),
  expected_rev: z.string().optional(),
  ...allowance,
};

const renameSymbol = z.strictObject({
  operation: z.literal('rename_symbol'),
  ...target,
  ...confirmation,
  new_name: z.string().min(1).max(500),
  /** Code that bears the old name and could not be placed: `refuse` (default) or `report`. */
  on_residual: z.enum(['refuse', 'report']).default('refuse'),
});
const replaceBody = z.strictObject({ operation: z.literal('replace_body'), ...target, text: code });
const replaceSymbol = z.strictObject({
  operation: z.literal('replace_symbol'),
  ...target,
  text: code,
  /** Replaces doc comment and attributes too. */
  include_doc: flag,
  allow_rename: flag,
});
const insertBefore = z.strictObject({ operation: z.literal('insert_before'), ...target, text: code });
const insertAfter = z.strictObject({ operation: z.literal('insert_after'), ...target, text: code });
const insertMember = z.strictObject({
  operation: z.literal('insert_member'),
  ...target,
  text: code,
  position: z.enum(['first', 'last']).default('last'),
});
const deleteSymbol = z.strictObject({
  operation: z.literal('delete_symbol'),
  ...target,
  /** Also while it is used. */
  force: flag,
});
const moveSymbol = z.strictObject({
  operation: z.literal('move_symbol'),
  ...target,
  ...confirmation,
  to_file: path,
  /** The old module goes on offering the name; importers stay as they are. */
  reexport: flag,
});
const imported = {
  file: path,
  /** As the language writes it, without quotes. */
  source: z.string().min(1).max(1_000),
  /** `*` for all names, `default` for the default export; none for the module itself. */
  name: z.string().min(1).max(500).optional(),
  ...allowance,
};
const addImport = z.strictObject({
  operation: z.literal('add_import'),
  ...imported,
  alias: z.string().min(1).max(500).optional(),
  type_only: flag,
});
const removeImport = z.strictObject({ operation: z.literal('remove_import'), ...imported });
const setDoc = z.strictObject({
  operation: z.literal('set_doc'),
  ...target,
  /** The words alone; comment signs are added. */
  text: z.string().min(1).max(100_000),
});
const constraint = z.union([
  z.strictObject({ regex: z.string() }),
  z.strictObject({ kind: z.string() }),
  z.strictObject({ pattern: z.string() }),
]);
const rewrite = z.strictObject({
  operation: z.literal('rewrite'),
  ...allowance,
  ...confirmation,
  language: z.string().min(1),
  pattern: z.string().min(1).max(100_000),
  replacement: z.string().max(100_000),
  /** Further conditions on a `$NAME`. */
  constraints: z.record(z.string(), constraint).default({}),
  /** Globs; none: every file of the language. */
  paths: z.array(z.string()).default([]),
  max_matches: z.int().min(1).max(100_000).default(1_000),
});
const codeAction = z
  .strictObject({
    operation: z.literal('code_action'),
    ...allowance,
    ...confirmation,
    target_node_id: id.optional(),
    expected_rev: z.string().optional(),
    file: path.optional(),
    /** From 1; with `file`. */
    line: z.int().min(1).optional(),
    end_line: z.int().min(1).optional(),
    /** Title or kind, exactly as listed. */
    title: z.string().optional(),
    kind: z.string().optional(),
  })
  .refine((one) => (one.target_node_id === undefined) !== (one.file === undefined), {
    error: 'Needs either target_node_id or file',
  })
  .refine((one) => one.title !== undefined || one.kind !== undefined, { error: 'Needs title or kind' });

const single = z.discriminatedUnion('operation', [
  renameSymbol,
  replaceBody,
  replaceSymbol,
  insertBefore,
  insertAfter,
  insertMember,
  deleteSymbol,
  moveSymbol,
  addImport,
  removeImport,
  setDoc,
  rewrite,
  codeAction,
]);
const batch = z.strictObject({
  operation: z.literal('batch'),
  ...confirmation,
  operations: z.array(single).min(1).max(100),
});

export const editOperationSchema = z.discriminatedUnion('operation', [...single.options, batch]);

export type SingleOperation = z.output<typeof single>;
export type EditOperation = z.output<typeof editOperationSchema>;
/** What callers write; defaults may be left out. */
export type EditRequest = z.input<typeof editOperationSchema>;
export type OperationName = EditOperation['operation'];
export type OperationOf<Name extends OperationName> = Extract<EditOperation, { readonly operation: Name }>;

export const OPERATION_NAMES: readonly string[] = [...single.options, batch].map(
  (option) => option.shape.operation.value,
);

/** Throws E_AST_EDIT for an unknown operation, E_VALIDATION_FAIL for arguments that are wrong. */
export function parseOperation(given: unknown): EditOperation {
  requireKnown(given);
  const parsed = editOperationSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const at = issue?.path.join('.') ?? '';
  throw new ToolError(
    'E_VALIDATION_FAIL',
    `Wrong arguments of an edit: ${at || 'operation'}, ${issue?.message ?? ''}`,
    {
      path: at || 'operation',
      details: { kind: 'tool_failure', retry: 'not_retryable', reason: 'wrong_arguments' },
    },
  );
}

function requireKnown(given: unknown): void {
  if (typeof given !== 'object' || given === null) return;
  const { operation, operations } = given as { readonly operation?: JsonValue; readonly operations?: unknown };
  if (typeof operation !== 'string') return;
  if (!OPERATION_NAMES.includes(operation)) {
    throw refuseEdit('unknown_operation', `Unknown operation: ${operation.slice(0, 80)}`, {
      path: 'operation',
      next: `use one of: ${OPERATION_NAMES.join(', ')}`,
    });
  }
  if (operation === 'batch' && Array.isArray(operations)) for (const one of operations) requireKnown(one);
}
