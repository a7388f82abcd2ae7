/** The answers of a query. Built by typed code from the index; the schema is their published form. */
import { z } from 'zod';
import { NODE_TYPES } from '../../contracts/facts.ts';
import { builtOnce } from '../../plugin/built-once.ts';

const node = () => {
  const span = z.strictObject({ start: z.int(), end: z.int() });
  return z.strictObject({
    id: z.string().describe('Stable while the file keeps path, type, containers and name; for ast_edit'),
    rev: z
      .string()
      .optional()
      .describe('Changes with the text of the declaration; give it as expected_rev to edit only this text'),
    type: z.enum(NODE_TYPES),
    subtype: z.string().optional().describe('Such as trait for an interface'),
    name: z.string(),
    container: z.string().optional().describe('Names of the enclosing declarations joined by dots; none at the top'),
    file: z.string().describe('Relative to the workspace root'),
    language: z.string().optional(),
    exported: z.boolean().optional().describe('True, or with detail full'),
    has_doc: z.boolean().optional(),
    test: z.boolean().optional().describe('True, or with detail full'),
    generated: z.literal(true).optional(),
    span: span.optional().describe('Bytes of the declaration with its modifiers'),
    line: z.int().describe('From 1'),
    col: z.int().optional().describe('From 1, in UTF-16 units'),
    end_line: z.int(),
    end_col: z.int().optional(),
    name_span: span.optional(),
    body_span: span.optional(),
    full_span: span.optional().describe('With doc comment, attributes and decorators'),
    signature: z.string(),
    source: z.string().optional().describe('With view source'),
    depth: z.int().optional().describe('With view outline: 0 at the top of the file'),
  });
};

const reference = () =>
  z.strictObject({
    file: z.string(),
    line: z.int(),
    col: z.int().optional().describe('From 1, in UTF-16 units; not for several declarations'),
    name: z.string(),
    kind: z
      .string()
      .describe('call, macro, new; where scopes or a server were asked: reference, import, export, member, shorthand…'),
    node_id: z.string().optional().describe('Innermost declaration around it'),
    test: z.boolean(),
  });

const match = () =>
  z.strictObject({
    file: z.string(),
    line: z.int(),
    col: z.int(),
    end_line: z.int(),
    text: z.string().describe('At most 300 characters'),
    captures: z.record(z.string(), z.string()).optional().describe('What each $NAME matched'),
    node_id: z.string().optional().describe('Innermost declaration around it'),
  });

const importRow = () =>
  z.strictObject({
    file: z.string(),
    line: z.int(),
    source: z.string().describe('Module as written, without quotes'),
    name: z.string().optional(),
    alias: z.string().optional(),
    star: z.literal(true).optional(),
    type_only: z.literal(true).optional(),
    reexport: z.literal(true).optional(),
  });

export const queryAnswer = builtOnce(() =>
  z.strictObject({
    nodes: z
      .array(node())
      .describe(
        'By file and place: id, type, name, container, file, span, lines and signature; outlines without span; all with detail full',
      ),
    total: z.int().optional().describe('Declarations that fit, where counting is cheap'),
    near: z.array(z.string()).optional().describe('Where nothing has the name: names that are nearly the same'),
    as_of: z.iso.datetime().describe('Changes made by other programs until then are seen'),
    references: z.array(reference()).optional().describe('With view references'),
    matches: z.array(match()).optional().describe('With view matches'),
    imports: z.array(importRow()).optional().describe('With view imports'),
    confidence: z
      .enum(['resolver', 'server', 'name'])
      .optional()
      .describe(
        'With view references: by scopes and imports, by a running language server, or by the name alone, which others may share',
      ),
    left_out: z.array(z.string()).optional().describe('With view references: what was not looked at'),
    truncated: z.boolean().describe('There is more: narrow where, or go on with offset'),
  }),
);

export type AnswerNode = z.output<ReturnType<typeof node>>;
export type AnswerMatch = z.output<ReturnType<typeof match>>;
export type AnswerImport = z.output<ReturnType<typeof importRow>>;
export type AnswerReference = z.output<ReturnType<typeof reference>>;
export type QueryAnswerData = z.output<ReturnType<typeof queryAnswer>>;

/** The fields of a query as tools take them. The index checks them again, and knows the words for types. */
export const whereSchema = z.strictObject({
  type: z
    .string()
    .exactOptional()
    .describe('fn, method, class, struct, enum, interface, type, const, var, field, module, test…'),
  type_in: z.array(z.string()).min(1).exactOptional().describe('Any of these kinds'),
  name_like: z.string().min(1).max(500).exactOptional().describe('Name; * and ? are wildcards, case counts'),
  file_glob: z.string().min(1).max(1024).exactOptional().describe('Files to look in, as in fs_list'),
  exported: z.boolean().exactOptional().describe('Visible outside its file'),
  container: z
    .string()
    .max(2000)
    .exactOptional()
    .describe('Enclosing names joined by dots; * and ? allowed; empty: top level'),
  language: z.string().min(1).max(50).exactOptional().describe('Such as typescript, python, rust'),
  has_doc: z.boolean().exactOptional().describe('Has documentation'),
  test: z.boolean().exactOptional().describe('Is test code'),
  calls: z.string().min(1).max(500).exactOptional().describe('Calls this exact name'),
});
