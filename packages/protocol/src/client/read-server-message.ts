/**
 * Text from the host to a message; what cannot be read becomes an ErrorMessage, so that the client hears of it.
 *
 * Only a broken answer ends its call: a broken event names the same request, which still runs.
 */
import { parseServerMessage } from '../envelopes/parse-envelope.ts';
import type { ServerMessage } from '../envelopes/server-message.ts';
import { withClass } from '../primitives/errors.ts';

/** More than any answer needs, less than what harms a page or a program. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

export function readServerMessage(text: string, maxBytes: number = MAX_MESSAGE_BYTES): ServerMessage {
  const parsed = parseServerMessage(text, { maxBytes });
  if (parsed.ok) return parsed.message;
  return isAnswer(text) ? parsed.error : { ...parsed.error, request_id: null };
}

export function unreadable(reason: 'not_text' | 'too_large' | 'invalid_utf8'): ServerMessage {
  return {
    type: 'ErrorMessage',
    code: 'E_VALIDATION_FAIL',
    message: `Host sent an invalid message: ${reason}`,
    request_id: null,
    details: withClass('E_VALIDATION_FAIL', { reason }),
  };
}

function isAnswer(text: string): boolean {
  try {
    const { type } = JSON.parse(text) as { readonly type?: unknown };
    return type === 'ToolResponse' || type === 'BatchResponse' || type === 'ErrorMessage';
  } catch {
    // May stop here: the refusal at hand already says what is wrong with the text.
    return false;
  }
}
