/** The one terminal message of a call. */
import type { ToolResponse } from '@tool-runtime/protocol';
import { redactEntry } from '../redaction/redact-error.ts';
import { isOk, type OpenCall, type Outcome } from './state/call-types.ts';
import type { SessionParts } from './state/session-parts.ts';

export function buildResponse(open: OpenCall, outcome: Outcome, { redactor }: SessionParts): ToolResponse {
  return {
    type: 'ToolResponse',
    ok: isOk(outcome),
    tool: open.request.tool,
    request_id: open.request.requestId,
    duration_ms: Math.round(outcome.durationMs * 1000) / 1000,
    data: outcome.data,
    errors: [...outcome.errors],
    warnings: open.warnings.map((entry) => redactEntry(entry, redactor)),
  };
}
