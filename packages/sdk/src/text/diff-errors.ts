/** A diff that cannot be understood or is not supported. What does not fit the file is told elsewhere. */
import { type JsonObject, ToolError } from '@tool-runtime/protocol';

export function invalidDiff(message: string, details: JsonObject): ToolError {
  return new ToolError('E_VALIDATION_FAIL', message, { path: 'unified_diff', details: { reason: 'diff', ...details } });
}
