/** Whether structured content is what the approved definition promised. Nothing is promised without an output schema. */
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { JsonValue } from '@tool-runtime/protocol';
import { checkSchema } from './check-schema.ts';
import type { ForeignDefinition } from './foreign-definition.ts';
import { isTooDeep } from './schema-bounds.ts';
import { type FailureSubject, upstreamFailure } from './upstream-failure.ts';

const MAX_DEPTH = 64;

export function checkStructured(
  { outputSchema }: ForeignDefinition,
  { structuredContent, isError }: CallToolResult,
  subject: FailureSubject,
): void {
  if (outputSchema === undefined || isError === true) return;
  const value = structuredContent as JsonValue | undefined;
  const [issue] = value === undefined || isTooDeep(value, MAX_DEPTH) ? [MISSING] : checkSchema(outputSchema)(value);
  if (issue === undefined) return;
  throw upstreamFailure(subject, 'Answer of the MCP server does not match its own schema', {
    reason: 'invalid_answer',
    issue: `${issue.path.join('.')} ${issue.message}`.trim().slice(0, 300),
  });
}

const MISSING = { path: [], message: 'no structured content' };
