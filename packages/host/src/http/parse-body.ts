/** Text or query to a value of a schema; what is wrong is said field by field. */
import { describeIssues, scanJson, ToolError } from '@tool-runtime/protocol';
import type { z } from 'zod';

/** An empty body stands for `{}`: every field of the bodies here is optional or named in the refusal. */
export function parseBody<Schema extends z.ZodType>(schema: Schema, text: string, maxBytes: number): z.infer<Schema> {
  const given = text === '' ? '{}' : text;
  scanJson(given, { maxBytes });
  return parseWith(schema, JSON.parse(given), 'body');
}

export function parseQuery<Schema extends z.ZodType>(schema: Schema, query: URLSearchParams): z.infer<Schema> {
  const names = [...query.keys()];
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) {
    throw new ToolError('E_VALIDATION_FAIL', `Query names a parameter twice: ${repeated.slice(0, 64)}`, {
      details: { reason: 'repeated_parameter' },
    });
  }
  return parseWith(schema, Object.fromEntries(query), 'query');
}

function parseWith<Schema extends z.ZodType>(schema: Schema, value: unknown, what: string): z.infer<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { message, path, issues } = describeIssues(parsed.error, value);
  throw new ToolError('E_VALIDATION_FAIL', `Invalid ${what}: ${message}`, {
    ...(path === undefined ? {} : { path }),
    details: { reason: 'invalid_fields', fields: issues.map((issue) => issue.path) },
  });
}
