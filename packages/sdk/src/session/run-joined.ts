/** A call and the transaction that it joins. */
import type { ToolResponse } from '@tool-runtime/protocol';
import { runCall } from '../call/pipeline.ts';
import type { CallRequest, CallTurn } from '../call/state/call-types.ts';
import type { JoinedCall, SessionParts } from '../call/state/session-parts.ts';

/** Runs a call in the transaction that it names, or in the newest open one of the session. */
export function runJoined(
  request: CallRequest,
  parts: SessionParts,
  onOpen: Parameters<typeof runCall>[2],
): Promise<ToolResponse> {
  if (request.recordOf !== undefined) return runCall(request, parts, onOpen);
  const joined = parts.transactions.join(request, parts);
  return joined.parts.transaction === undefined
    ? runCall(request, joined.parts, onOpen)
    : runInside(request, joined, onOpen);
}

async function runInside(
  request: CallRequest,
  joined: JoinedCall,
  onOpen: Parameters<typeof runCall>[2],
): Promise<ToolResponse> {
  const { turn } = request;
  try {
    const own = turn === undefined ? {} : { turn: enteringTurn(turn, joined.enter) };
    return await runCall({ ...request, ...own }, joined.parts, onOpen);
  } finally {
    joined.leave();
  }
}

/** A call that still waits for its turn is not part of its transaction yet: who ends that need not wait for it. */
function enteringTurn(turn: CallTurn, enter: () => void): CallTurn {
  return {
    take(signal) {
      const waited = turn.take(signal);
      return waited instanceof Promise ? waited.then(enter) : enter();
    },
    lend: () => turn.lend(),
  };
}
