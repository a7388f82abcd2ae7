/**
 * The one place where a message of a client becomes an answer, whatever it travelled on. Transports turn bytes into text
 * and back; sessions do the rest.
 */
import type {
  ApprovalAnswered,
  BatchRequest,
  ChildEnd,
  ChildOpen,
  ClientMessage,
  ServerMessage,
  ToolRequest,
} from '@tool-runtime/protocol';
import type { Reach } from '../sessions/reach.ts';
import { errorAnswer } from '../sessions/refusals.ts';
import type { StartOptions } from '../sessions/served-calls.ts';
import type { ServedSession } from '../sessions/served-session.ts';

export interface Reply {
  readonly message: ServerMessage;
  readonly text: string;
}

/** Joining a session needs a connection to send events to; everything else is answered here. */
export type Dispatchable = Exclude<ClientMessage, { readonly type: 'SessionAttach' }>;

/**
 * Never throws. Nothing comes back for a cancel: the cancelled call has its own answer. `onStart` hears of the session
 * of a call before the call begins, so that no event of it is missed, and says how to start it.
 */
export function dispatch(
  message: Dispatchable,
  reach: Reach,
  onStart?: (served: ServedSession) => StartOptions,
): Promise<Reply> | Reply | undefined {
  try {
    switch (message.type) {
      case 'ToolRequest':
      case 'BatchRequest':
        return startCall(message, reach, onStart);
      case 'CancelRequest':
        reach.session(message.session_id).cancel(message.request_id);
        return undefined;
      case 'Heartbeat':
        reach.session(message.session_id).beat();
        return reply({ type: 'Heartbeat', session_id: message.session_id, timestamp: seconds(reach) });
      case 'ApprovalAnswer':
        return reply(answeredEvent(reach.answerApproval(message)));
      case 'ChildOpen':
      case 'ChildEnd':
        return askForChild(message, reach);
    }
  } catch (thrown) {
    return reply(errorAnswer(thrown, isCall(message) ? message.request_id : null));
  }
}

async function askForChild(message: ChildOpen | ChildEnd, reach: Reach): Promise<Reply> {
  const { request_id, session_id } = message;
  try {
    if (message.type === 'ChildEnd') {
      return reply({ type: 'ChildEnded', request_id, session_id, usage: await reach.endChild(message) });
    }
    reach.admitCall();
    return reply(await reach.openChild(message));
  } catch (thrown) {
    return reply(errorAnswer(thrown, request_id));
  }
}

function startCall(
  request: ToolRequest | BatchRequest,
  reach: Reach,
  onStart?: (served: ServedSession) => StartOptions,
): Promise<Reply> {
  reach.admitCall();
  const served = reach.session(request.session_id);
  const options = onStart?.(served);
  return request.type === 'ToolRequest' ? served.start(request, options) : served.startBatch(request, options);
}

export function isCall(message: ClientMessage): message is ToolRequest | BatchRequest {
  return message.type === 'ToolRequest' || message.type === 'BatchRequest';
}

export function reply(message: ServerMessage): Reply {
  return { message, text: JSON.stringify(message) };
}

function seconds({ now }: Reach): number {
  return Math.floor(now() / 1000);
}

function answeredEvent(answered: ApprovalAnswered): ServerMessage {
  return {
    type: 'EventMessage',
    event: 'ApprovalAnswered',
    request_id: answered.approval_id,
    progress: { pct: 0, message: answered.answer },
    data: { ...answered },
  };
}
