/** Gives a request its identity, its clock and its signal. Cannot fail and changes nothing. */
import { isToolError, type ToolError, ToolError as ToolErrorClass } from '@tool-runtime/protocol';
import { openSpan } from './call-span.ts';
import type { CallRequest, OpenCall } from './call-types.ts';
import type { SessionParts } from './session-parts.ts';

export function beginCall(request: CallRequest, parts: SessionParts): OpenCall {
  let controller: AbortController | undefined;
  const outer = request.signal;
  const callId = parts.newId();
  const open: OpenCall = {
    request,
    callId,
    sessionId: parts.sessionId,
    startedAt: parts.clock.now(),
    startedTick: parts.clock.monotonic(),
    warnings: [],
    trail: [],
    progress: { requested: false, pct: 0, ended: false },
    span: openSpan(request, callId, parts),
    signal() {
      if (controller === undefined) {
        controller = new AbortController();
        linkSignals(outer, controller);
      }
      return controller.signal;
    },
    abort(reason: ToolError) {
      open.signal();
      controller?.abort(reason);
    },
    cancelled: () => outer?.aborted === true || controller?.signal.aborted === true,
  };
  return open;
}

/** An outer abort carries any reason; inside it is always a coded cancellation. */
function linkSignals(outer: AbortSignal | undefined, controller: AbortController): void {
  if (outer === undefined) return;
  const forward = (): void => controller.abort(isToolError(outer.reason) ? outer.reason : cancelled());
  if (outer.aborted) forward();
  else {
    outer.addEventListener('abort', forward, { once: true, signal: controller.signal });
  }
}

function cancelled(): ToolError {
  return new ToolErrorClass('E_INTERNAL', 'Call was cancelled', { details: { reason: 'cancelled' } });
}
