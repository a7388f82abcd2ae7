/** Tells the operator of failures that are ours. A cancelled call is nobody's fault, whatever stopped underneath it. */
import type { ToolError } from '@tool-runtime/protocol';
import type { SessionParts } from './session-parts.ts';

export function reportFault(error: ToolError, parts: Pick<SessionParts, 'reportUnexpected'>): void {
  if (error.code !== 'E_INTERNAL' || error.cause === undefined || error.details['reason'] === 'cancelled') return;
  parts.reportUnexpected(error);
}
