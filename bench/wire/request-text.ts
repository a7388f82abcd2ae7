/** Envelopes as text, cut together rather than written anew: neither client nor echo should be what is timed. */
const MARK = '"request_id":"';

/** The id of a request or an answer; empty when the message has none. */
export function idOf(text: string): string {
  const at = text.indexOf(MARK);
  if (at === -1) return '';
  const start = at + MARK.length;
  return text.slice(start, text.indexOf('"', start));
}

/** A writer of `file_read` requests for one session. */
export function requestWriter(sessionId: string, path: string): (requestId: string) => string {
  const [before = '', after = ''] = JSON.stringify({
    type: 'ToolRequest',
    tool: 'file_read',
    args: { path },
    request_id: 'ID',
    session_id: sessionId,
    timestamp: 0,
  }).split('ID');
  return (requestId) => before + requestId + after;
}
