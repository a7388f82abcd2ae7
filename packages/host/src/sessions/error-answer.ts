/** A failure as the message a client gets. */
import { type ErrorMessage, toToolError } from '@tool-runtime/protocol';
import { withClass } from '@tool-runtime/protocol/internal';

export function errorAnswer(thrown: unknown, requestId: string | null): ErrorMessage {
  const { code, message, details, path } = toToolError(thrown);
  const all = withClass(code, { ...details, ...(path === undefined ? {} : { path }) });
  return { type: 'ErrorMessage', code, message, request_id: requestId, details: all };
}
