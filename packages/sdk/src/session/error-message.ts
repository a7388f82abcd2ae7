/** The refusal of an envelope. */
import type { ErrorMessage, ToolError } from '@tool-runtime/protocol';
import { completeRefusal } from '../contracts/failures.ts';

export function errorMessage(error: ToolError, requestId: string | null): ErrorMessage {
  const { code, message, details } = completeRefusal(error).toEntry();
  return { type: 'ErrorMessage', code, message, request_id: requestId, ...(details === undefined ? {} : { details }) };
}
