/** The span of one call, behind a guard: a telemetry that throws is reported once and then left alone. */
import { toToolError } from '@tool-runtime/protocol';
import type { CallSpan } from '../../contracts/telemetry.ts';
import type { CallRequest } from './call-types.ts';
import type { SessionParts } from './session-parts.ts';
import { boundedToolName } from './tool-name.ts';

export function openSpan(request: CallRequest, callId: string, parts: SessionParts): CallSpan | undefined {
  const { telemetry, sessionId, actor } = parts;
  if (telemetry === undefined) return undefined;
  let span: CallSpan | undefined;
  const guarded = (use: () => void): void => {
    try {
      use();
    } catch (thrown) {
      // Stops here because watching must never change what is watched.
      span = undefined;
      parts.reportUnexpected(toToolError(thrown));
    }
  };
  guarded(() => {
    span = telemetry.startCall({
      tool: boundedToolName(request.tool, parts),
      sessionId,
      requestId: request.requestId,
      callId,
      actor,
      traceparent: request.traceparent,
      tracestate: request.tracestate,
    });
  });
  if (span === undefined) return undefined;
  return {
    stage: (name) => guarded(() => span?.stage(name)),
    end: (end) => guarded(() => span?.end(end)),
  };
}
