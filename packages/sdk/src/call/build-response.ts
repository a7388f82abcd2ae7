/** The one terminal message of a call. */
import type { ToolResponse } from '@tool-runtime/protocol';
import { isOk, type OpenCall, type Outcome } from './call-types.ts';

export function buildResponse(open: OpenCall, outcome: Outcome): ToolResponse {
  return {
    type: 'ToolResponse',
    ok: isOk(outcome),
    tool: open.request.tool,
    request_id: open.request.requestId,
    duration_ms: Math.round(outcome.durationMs * 1000) / 1000,
    data: outcome.data,
    errors: [...outcome.errors],
    warnings: [...open.warnings],
  };
}
