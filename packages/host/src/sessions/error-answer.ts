/** A failure as the message a client gets. */
import { type ErrorMessage, toToolError } from '@tool-runtime/protocol';

export function errorAnswer(thrown: unknown, requestId: string | null): ErrorMessage {
  const { code, message, details, path } = toToolError(thrown);
  const all = { ...details, ...(path === undefined ? {} : { path }) };
  return {
    type: 'ErrorMessage',
    code,
    message,
    request_id: requestId,
    ...(Object.keys(all).length === 0 ? {} : { details: all }),
  };
}
