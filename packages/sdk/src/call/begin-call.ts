/** Gives a request its identity, its clock and its signal. Cannot fail and changes nothing. */
import { openSpan } from './state/call-span.ts';
import { CallTime } from './state/call-time.ts';
import type { CallRequest, OpenCall } from './state/call-types.ts';
import type { SessionParts } from './state/session-parts.ts';

export function beginCall(request: CallRequest, parts: SessionParts): OpenCall {
  const callId = parts.newId();
  const time = new CallTime(request);
  return {
    request,
    callId,
    sessionId: parts.sessionId,
    startedAt: parts.clock.now(),
    startedTick: parts.clock.monotonic(),
    warnings: [],
    trail: [],
    progress: { requested: false, pct: 0, ended: false },
    span: openSpan(request, callId, parts),
    time,
    signal: () => time.signal,
    abort: (reason) => time.abort(reason),
    cancelled: () => time.reason !== undefined,
  };
}
